//! Files that are no transcripts, and that nothing takes for one: one record of each shape, in each form that a file can have.

use serde_json::Value;

use super::{Verdict, recognise};

/// A record or a document of each shape, invented.
const SHAPES: &[&str] = &[
    r##"{"name":"kettle","version":"1.2.0","type":"module","scripts":{"test":"node --test"},"dependencies":{"tea":"^1.0.0"}}"##,
    r##"{"name":"kettle","lockfileVersion":3,"requires":true,"packages":{"":{"name":"kettle"},"node_modules/tea":{"version":"1.0.0","resolved":"tea.tgz"}}}"##,
    r##"{"compilerOptions":{"target":"es2022","strict":true,"types":["node"]},"include":["src"],"files":[]}"##,
    r##"{"version":3,"file":"a.js","sources":["a.ts"],"names":["input","output"],"mappings":"AAAA;AACA"}"##,
    r##"{"_id":"kettle","dist-tags":{"latest":"1.2.0"},"versions":{"1.2.0":{"name":"kettle","version":"1.2.0"}},"time":{"created":"2024-01-01T00:00:00Z"}}"##,
    r##"{"cells":[{"cell_type":"code","source":["1 + 1"],"outputs":[{"output_type":"execute_result","data":{"text/plain":["2"]}}],"metadata":{}}],"metadata":{},"nbformat":4,"nbformat_minor":5}"##,
    r##"{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[8.5,47.4]},"properties":{"name":"Kettle"}}]}"##,
    r##"{"type":"Feature","id":"f1","geometry":{"type":"Point","coordinates":[8.5,47.4]},"properties":{"message":"here"}}"##,
    r##"{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"role":{"type":"string"},"content":{"type":"string"},"messages":{"type":"array"}}}"##,
    r##"{"openapi":"3.1.0","info":{"title":"Kettle","version":"1"},"paths":{"/messages":{"post":{"requestBody":{"content":{"application/json":{}}},"responses":{"200":{"description":"ok"}}}}}}"##,
    r##"{"swagger":"2.0","info":{"title":"Kettle","version":"1"},"paths":{},"definitions":{"Message":{"type":"object"}}}"##,
    r##"{"log":{"version":"1.2","creator":{"name":"browser","version":"1"},"entries":[{"startedDateTime":"2024-01-01T00:00:00Z","request":{"method":"GET","url":"http://localhost/"},"response":{"status":200,"content":{"text":"hi"}}}]}}"##,
    r##"{"level":"info","time":1700000000000,"pid":7,"hostname":"h","msg":"request completed","req":{"method":"POST","url":"/v1"},"res":{"statusCode":200}}"##,
    r##"{"timestamp":"2024-01-01T00:00:00Z","level":"ERROR","message":"no water","logger":"kettle","thread":"main","session":"s1"}"##,
    r##"{"@timestamp":"2024-01-01T00:00:00Z","message":"GET /","log":{"level":"info"},"event":{"kind":"event","dataset":"nginx.access"},"source":{"ip":"127.0.0.1"}}"##,
    r##"{"severity":"INFO","insertId":"a1","resource":{"type":"k8s"},"jsonPayload":{"message":"ok"},"receiveTimestamp":"2024-01-01T00:00:00Z"}"##,
    r##"{"reason":"compiler-message","package_id":"kettle 0.1.0","target":{"kind":["lib"],"name":"kettle"},"message":{"rendered":"warning","level":"warning","spans":[]}}"##,
    r##"{"type":"test","event":"started","name":"boils"}"##,
    r##"{"Time":"2024-01-01T00:00:00Z","Action":"run","Package":"kettle","Test":"TestBoil","Output":"=== RUN"}"##,
    r##"{"numTotalTests":3,"success":true,"startTime":1700000000000,"testResults":[{"name":"a.test.js","status":"passed","message":"","assertionResults":[]}]}"##,
    r##"{"config":{"rootDir":"."},"suites":[{"title":"kettle","specs":[{"title":"boils","ok":true,"tests":[{"results":[{"status":"passed","stdout":[]}]}]}]}],"stats":{"startTime":"2024-01-01T00:00:00Z"}}"##,
    r##"[{"filePath":"a.js","messages":[{"ruleId":"semi","severity":2,"message":"Missing semicolon.","line":1,"column":9}],"errorCount":1,"source":"a"}]"##,
    r##"{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"lint"}},"results":[{"ruleId":"r","message":{"text":"no"},"level":"error"}]}]}"##,
    r##"{"generalDiagnostics":[{"file":"a.py","severity":"error","message":"no","range":{"start":{"line":1},"end":{"line":1}}}],"summary":{"errorCount":1}}"##,
    r##"{"!":0,"a":1,"input":2,"output":3,"time":4,"session":5,"model":6,"role":7,"content":8,"messages":9,"type":10,"user":11}"##,
    r##"{"version":"1.0","truncation":null,"added_tokens":[{"id":0,"content":"<s>","special":true}],"model":{"type":"BPE","vocab":{"a":0},"merges":[]}}"##,
    r##"{"architectures":["Kettle"],"model_type":"kettle","hidden_size":64,"vocab_size":100,"torch_dtype":"float32"}"##,
    r##"{"data":[{"id":"m-1","object":"model","created":1700000000,"owned_by":"kettle"}],"object":"list"}"##,
    r##"{"id":"evt_1","object":"event","type":"invoice.paid","created":1700000000,"data":{"object":{"id":"in_1","amount":5}}}"##,
    r##"{"specversion":"1.0","type":"kettle.boiled","source":"/kettle","id":"1","time":"2024-01-01T00:00:00Z","data":{"text":"hot"}}"##,
    r##"{"ts":"1700000000.1","type":"message","user":"U1","text":"tea?","team":"T1","channel":"C1"}"##,
    r##"{"id":"9","type":0,"content":"tea?","channel_id":"1","author":{"id":"2","username":"ada"},"timestamp":"2024-01-01T00:00:00Z","attachments":[]}"##,
    r##"{"name":"ada","type":"personal_chat","id":1,"messages":[{"id":1,"type":"message","date":"2024-01-01T00:00:00","from":"ada","from_id":"user1","text":"tea?"}]}"##,
    r##"{"participants":[{"name":"ada"}],"messages":[{"sender_name":"ada","timestamp_ms":1700000000000,"content":"tea?","type":"Generic"}],"title":"t","thread_path":"inbox/a"}"##,
    r##"{"id":"1","threadId":"2","labelIds":["INBOX"],"snippet":"tea?","payload":{"headers":[{"name":"Subject","value":"tea"}],"parts":[]},"internalDate":"1700000000000"}"##,
    r##"{"url":"http://localhost/1","number":1,"title":"no water","body":"It is dry.","user":{"login":"ada"},"state":"open","created_at":"2024-01-01T00:00:00Z","comments":2}"##,
    r##"{"sha":"a1","commit":{"author":{"name":"ada","date":"2024-01-01T00:00:00Z"},"message":"boil"},"parents":[{"sha":"b2"}]}"##,
    r##"{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Event","message":"Started","reason":"Started","type":"Normal","source":{"component":"kubelet"}}]}"##,
    r##"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"kettle"},"spec":{"replicas":1}}"##,
    r##"{"Records":[{"eventVersion":"1.08","eventTime":"2024-01-01T00:00:00Z","eventName":"Boil","requestParameters":{"input":"a"},"responseElements":null}]}"##,
    r##"{"AWSTemplateFormatVersion":"2010-09-09","Resources":{"Kettle":{"Type":"AWS::S3::Bucket"}},"Outputs":{"Name":{"Value":"k"}}}"##,
    r##"{"version":4,"terraform_version":"1.6.0","serial":1,"lineage":"a","outputs":{},"resources":[{"mode":"managed","type":"kettle","name":"k","instances":[]}]}"##,
    r##"{"format_version":"1.2","planned_values":{},"resource_changes":[{"address":"k","change":{"actions":["create"],"before":null,"after":{}}}]}"##,
    r##"{"manifest":{"name":"kettle"},"history":[{"created":"2024-01-01T00:00:00Z","created_by":"/bin/sh"}],"rootfs":{"type":"layers","diff_ids":[]}}"##,
    r##"{"bomFormat":"CycloneDX","specVersion":"1.5","components":[{"type":"library","name":"tea","version":"1"}]}"##,
    r##"{"dashboard":{"title":"Kettle","panels":[{"type":"graph","targets":[{"expr":"up"}]}],"time":{"from":"now-6h","to":"now"}}}"##,
    r##"{"status":"success","data":{"resultType":"vector","result":[{"metric":{"session":"a"},"value":[1700000000,"1"]}]}}"##,
    r##"{"traceEvents":[{"name":"boil","ph":"X","ts":1,"dur":2,"pid":1,"tid":1,"args":{"input":1}}],"displayTimeUnit":"ms"}"##,
    r##"{"nodes":[{"id":"1","type":"input","position":{"x":0,"y":0},"data":{"label":"user"}}],"edges":[{"id":"e","source":"1","target":"2"}]}"##,
    r##"{"v":"5.7.4","fr":30,"ip":0,"op":60,"w":10,"h":10,"nm":"kettle","layers":[{"ty":4,"nm":"a"}]}"##,
    r##"{"asset":{"version":"2.0"},"scenes":[{"nodes":[0]}],"nodes":[{"name":"kettle","mesh":0}],"meshes":[]}"##,
    r##"{"version":"0.2.0","configurations":[{"type":"node","request":"launch","name":"kettle","program":"a.js"}],"inputs":[]}"##,
    r##"{"version":"2.0.0","tasks":[{"label":"boil","type":"shell","command":"boil","group":"build"}]}"##,
    r##"{"editor.tabSize":2,"files.exclude":{"out":true},"chat.agent.enabled":true,"terminal.integrated.env":{}}"##,
    r##"{"mcpServers":{"kettle":{"command":"node","args":["a.js"],"env":{}}}}"##,
    r##"{"permissions":{"allow":["Bash(ls)"],"deny":[]},"model":"m-1","hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"true"}]}]}}"##,
    r##"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{},"clientInfo":{"name":"kettle","version":"1"}}}"##,
    r##"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"hi"}],"isError":false}}"##,
    r##"{"instruction":"Translate.","input":"tea","output":"Tee"}"##,
    r##"{"question":"2+2?","answer":"4","context":"numbers","id":"q1"}"##,
    r##"{"prompt":"2+2?","completion":"4"}"##,
    r##"{"chosen":"a","rejected":"b","prompt":"c"}"##,
    r##"{"text":"a kettle","meta":{"source":"web","url":"http://localhost/"}}"##,
    r##"{"instance_id":"a-1","model_name_or_path":"m-1","model_patch":"diff --git a b"}"##,
    r##"{"task_id":"a/1","prompt":"def f():","canonical_solution":"pass","test":"assert","entry_point":"f"}"##,
    r##"{"id":1,"first_name":"Ada","email":"ada@localhost","session":"s","time":"2024-01-01","output":"x"}"##,
    r##"{"type":"header","version":1,"width":80,"height":24,"timestamp":1700000000,"env":{"TERM":"xterm"}}"##,
    r##"{"session_id":"s1","user":"ada","page":"/","timestamp":"2024-01-01T00:00:00Z","referrer":null}"##,
];

/// Returns a record as a document in one line and in several, as a list, as lines, and cut off.
fn forms(record: &Value) -> [String; 5] {
    let one = record.to_string();
    let pretty = serde_json::to_string_pretty(record).expect("JSON");
    let cut = pretty.chars().take(pretty.chars().count() / 2).collect();
    [format!("[{one},{one}]"), format!("{one}\n{one}\n{one}\n"), one, pretty, cut]
}

#[test]
fn a_file_that_is_no_transcript_is_not_taken_for_one() {
    let mut files = 0;
    for shape in SHAPES {
        for text in forms(&serde_json::from_str(shape).expect("JSON")) {
            files += 1;
            match recognise("data.json", text.as_bytes()) {
                Verdict::No => {}
                Verdict::Sure(format) | Verdict::Maybe(format) => panic!("read as {}: {text}", format.name),
                Verdict::Unread { kind, .. } => panic!("refused as {kind}: {text}"),
            }
        }
    }
    assert!(files >= 300, "{files} files");
}
