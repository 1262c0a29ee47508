# A policy for recompact: of all results of tools, only the newest three keep their text.
# It reads one line of JSON before each recorded call, and answers with one line. `recompact guide programs` has all fields.
command -v jq > /dev/null || { echo "this policy needs the program jq" >&2; exit 1; }
exec jq -cn --unbuffered '
  foreach inputs as $request ({};
    if $request.type == "start" then {results: [], answer: {protocol: 1, shape: "openai"}}
    else
      (.results + [$request.messages[] | select(.role == "tool")]) as $results
      | {results: $results[-3:], answer: {call: $request.call, replace: [$results[:-3][] | .content = "[cleared]"]}}
    end;
    .answer)'
