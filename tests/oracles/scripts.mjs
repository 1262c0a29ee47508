// What the live drivers let their programs live through. `shell(command)` is a call of the program's shell: [name, input].

/** A turn in which the model calls the shell `calls` times, one after another, and then says `last`. */
export function printing(shell, to) {
  let line = 0;
  const call = () => shell(`printf 'line ${(line += 1)} %s\\n' $(seq ${line * 100} ${line * 100 + to})`);
  return (typed, calls, last = "Done.") => ({
    typed,
    says: [...Array.from({ length: calls }, () => ({ calls: [call()] })), { text: last }],
  });
}

/** Calls side by side, some of which fail; errors of the provider and half an answer; a long result; a picture and a file. */
export const troubles = (shell, read, { cut = true } = {}) => [
  {
    typed: "Turn 1: look around.",
    says: [
      { text: "I look first.", calls: [shell("echo one; echo two >&2"), shell("echo lost; exit 3"), ["no_such_tool", { a: 1 }]] },
      { status: 429 },
      { calls: [read("notes.txt"), read("absent.txt")] },
      { status: 500 },
      { calls: [shell("seq 1 60000")] },
      ...(cut ? [{ text: "Half of an ans", cut }] : []),
      { text: "Done: an answer — with “quotes” and 數字." },
    ],
  },
  {
    typed: "Turn 2: what is in the picture?",
    attach: true,
    says: [{ text: "It is small.", calls: [shell("true"), shell("printf ''")] }, { text: "A point." }],
  },
  { typed: "Turn 3: thanks.", says: [{ text: "You are welcome." }] },
];

/** Pictures in each turn, and answers of a text and several calls, beyond the limit, twice. */
export const crowds = (print) =>
  ["first", "next", "last"].map((which) => {
    const { typed, says } = print(`Print the ${which} numbers, and look.`, 16);
    const calls = says.flatMap((answer) => answer.calls ?? []);
    const groups = [calls.slice(0, 4), calls.slice(4, 6), calls.slice(6, 9), calls.slice(9, 12), calls.slice(12)];
    return { typed, attach: true, says: [...groups.map((calls) => ({ text: `I print ${calls.length}.`, calls })), says.at(-1)] };
  });

/** A session that is continued, forked in another process, and goes on in the fork beyond its limit, twice. */
export const forks = (print) => [
  print("Turn 1: print the next numbers.", 3),
  print("Turn 2: print the next numbers.", 2, "Done, and that was all."),
  { ...print("Turn 3: print the next numbers, another way.", 4), fork: true },
  print("Turn 4: print the next numbers.", 14),
  print("Turn 5: print the next numbers.", 14),
  print("Turn 6: print the next numbers.", 2),
];
