use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Formats what a call reads and writes as `reads | writes`.
fn access(tool: &str, input: Value) -> String {
    let Access { reads, writes } = access_of(tool, &input);
    format!("{} | {}", reads.join(" "), writes.join(" ")).trim().to_owned()
}

fn shell(script: &str) -> String {
    access("Bash", json!({"command": script}))
}

#[test]
fn access_depends_on_the_shape_of_the_input() {
    for (tool, input, expected) in [
        ("Read", json!({"file_path": "/a/b.rs", "limit": 9}), "/a/b.rs |"),
        ("read_file", json!({"absolute_path": "/a/b.rs"}), "/a/b.rs |"),
        ("whatever", json!({"path": "b.rs"}), "b.rs |"),
        ("Edit", json!({"file_path": "b.rs", "old_string": "x", "new_string": ""}), "| b.rs"),
        ("whatever", json!({"path": "b.rs", "oldText": "x", "newText": "y"}), "| b.rs"),
        ("MultiEdit", json!({"file_path": "b.rs", "edits": [{"old_string": "x", "new_string": "y"}]}), "| b.rs"),
        ("NotebookEdit", json!({"notebook_path": "b.ipynb", "new_source": "1"}), "| b.ipynb"),
        ("delete_file", json!({"target_file": "b.rs"}), "| b.rs"),
        ("move_file", json!({"old_path": "a.rs", "new_path": "b.rs"}), "| a.rs b.rs"),
        ("append", json!({"path": "b.rs", "text": "more"}), "| b.rs"),
        ("say", json!({"path": "b.rs", "text": "of it"}), "b.rs |"),
        ("editor", json!({"command": "view", "path": "b.rs"}), "b.rs |"),
        ("editor", json!({"command": "str_replace", "path": "b.rs", "old_str": "x"}), "| b.rs"),
        ("run_shell_command", json!({"command": "cat b.rs", "directory": "src"}), "b.rs |"),
        ("read_many_files", json!({"paths": ["a.rs", "b.rs", "a.rs"]}), "a.rs b.rs |"),
        ("read_files", json!({"files": [{"path": "a.rs"}, {"path": "b.rs"}]}), "a.rs b.rs |"),
        ("push", json!({"files": [{"path": "a.rs", "content": "x"}]}), "| a.rs"),
        ("call", json!({"arguments": {"path": "a.rs"}}), "a.rs |"),
        ("WebFetch", json!({"url": "https://a.example/x", "prompt": "what"}), "https://a.example/x |"),
        ("http", json!({"url": "https://a.example/x", "method": "post"}), "|"),
        ("Grep", json!({"pattern": "fn", "path": "src"}), "src |"),
        ("Grep", json!({"pattern": "fn"}), "|"),
        ("TodoWrite", json!({"todos": [{"content": "read a.rs"}]}), "|"),
        ("Read", json!({"file_path": 7}), "|"),
        ("Read", json!({"file_path": "two\nlines"}), "|"),
        ("Read", json!(["a.rs"]), "|"),
    ] {
        assert_eq!(access(tool, input.clone()), expected, "{tool} {input}");
    }
}

#[test]
fn patches_write_the_files_they_name() {
    let own = "*** Begin Patch\n*** Update File: src/a.rs\n*** Move to: src/b.rs\n@@\n-x\n+tools.x\n*** Add File: c.md\n+*** Add File: no\n*** Delete File: d.md\n*** End Patch";
    for input in [json!(own), json!({"input": own}), json!({"patch": own}), json!({"command": ["apply_patch", own]})] {
        assert_eq!(access("apply_patch", input), "| src/a.rs src/b.rs c.md d.md");
    }
    assert_eq!(shell(&format!("apply_patch <<'EOF'\n{own}\nEOF")), "| src/a.rs src/b.rs c.md d.md");
    let unified = "--- a/x.rs\n+++ b/x.rs\t2026\n@@ -1 +1 @@\n-a\n+++ no\n--- a/gone.rs\n+++ /dev/null\n";
    assert_eq!(access("patch", json!({"diff": unified})), "| x.rs gone.rs");
    assert_eq!(shell(&format!("git apply <<EOF\n{unified}EOF")), "| x.rs gone.rs");
    assert_eq!(access("Write", json!({"file_path": "notes.md", "content": own})), "| notes.md", "a patch that is quoted");
}

#[test]
fn commands_read_what_their_programs_print() {
    for (script, expected) in [
        ("cat a.rs b.rs", "a.rs b.rs |"),
        ("cd /w && sed -n '1,20p' src/a.rs; head -n 5 b.rs", "src/a.rs b.rs |"),
        ("sed -n -e 1p -e 2p a.rs", "a.rs |"),
        ("nl -ba a.rs | sed -n '3,9p'", "a.rs |"),
        ("cargo test | tail -n 20 a.rs", "|"),
        ("rg -n -C 3 'a b' src tests -g '*.rs'", "src tests |"),
        ("rg --files src | rg x", "src |"),
        ("grep -rn --include='*.rs' -e x -- src", "src |"),
        ("awk -F: '{print $1}' a.txt && jq --arg k v -r .x a.json", "a.txt a.json |"),
        ("find src tests -name '*.rs'", "src tests |"),
        ("ls -la && tree -L 2 src", "src |"),
        ("git -C /w show HEAD~1:src/a.rs && git diff main -- b.rs ':(exclude)c.rs'", "src/a.rs b.rs |"),
        ("git show HEAD --stat", "|"),
        ("python3 -m json.tool a.json", "a.json |"),
        ("curl -s https://a.example/x", "https://a.example/x |"),
        ("curl -X POST https://a.example/x", "|"),
        ("wget -qO- https://a.example/x; wget https://a.example/y", "https://a.example/x |"),
        ("curl -o x.html https://a.example/x", "| x.html"),
        ("bash -lc \"cat 'a b.rs'\"", "a b.rs |"),
        ("FOO=1 timeout 10 cat a.rs", "a.rs |"),
        ("sudo -n /bin/cat a.rs 2>/dev/null", "a.rs |"),
        ("wc -l < a.rs", "a.rs |"),
        ("for f in *.rs; do cat \"$f\"; done", "|"),
        ("cargo test && npm run build", "|"),
        ("diff -u a.rs \\\n  b.rs # cat c.rs", "a.rs b.rs |"),
        ("git commit -m \"$(cat <<'EOF'\ncat x.rs\nEOF\n)\" && cat a.rs", "a.rs |"),
    ] {
        assert_eq!(shell(script), expected, "{script}");
    }
}

#[test]
fn commands_write_what_they_redirect_and_change() {
    for (script, expected) in [
        ("cat > a.rs <<'EOF'\ncat b.rs\n> c.rs\nEOF\ncat d.rs", "d.rs | a.rs"),
        ("cat a.rs > b.rs", "| b.rs"),
        ("cat a.rs | sort >> b.rs", "| b.rs"),
        ("cat a.rs 2>&1 2>err.txt", "a.rs | err.txt"),
        ("make &> log.txt; make > /dev/null", "| log.txt"),
        ("cargo test | tee -a log.txt", "| log.txt"),
        ("sed -i 's/x/y/' a.rs b.rs", "| a.rs b.rs"),
        ("sed -i '' -e 's/x/y/' a.rs", "| a.rs"),
        ("perl -0pi -e 's/x/y/' a.rs", "| a.rs"),
        ("perl -ne 'print if /x/' a.rs", "a.rs |"),
        ("mv a.rs b.rs", "| a.rs b.rs"),
        ("cp -r a.rs src/b.rs lib/", "| lib/a.rs lib/b.rs"),
        ("rm -rf a.rs && touch b.rs", "| a.rs b.rs"),
        ("git checkout -- a.rs; git checkout main", "| a.rs"),
        ("[[ $a > b ]] && echo x >&2", "|"),
    ] {
        assert_eq!(shell(script), expected, "{script}");
    }
}

#[test]
fn commands_may_be_given_word_by_word() {
    assert_eq!(access("shell", json!({"command": ["bash", "-lc", "cat a.rs > b.rs; cat c.rs"]})), "c.rs | b.rs");
    assert_eq!(access("shell", json!({"command": ["cat", "a $b.rs"]})), "a $b.rs |");
    assert_eq!(access("exec_command", json!({"cmd": "cat a.rs"})), "a.rs |");
    assert_eq!(access("bash", json!("cat a.rs")), "a.rs |");
    assert_eq!(access("say", json!("cat a.rs")), "|");
}

#[test]
fn programs_are_searched_for_commands_and_patches() {
    let program = r#"const r = await tools.exec_command({"cmd": "sed -n '1p' a.rs\ncat \"b.rs\"", workdir: "/w"}); // don't
        const patch = `*** Begin Patch\n*** Update File: c.rs\n*** End Patch`; tools.apply_patch(patch); text("cat d.rs")"#;
    assert_eq!(access("exec", json!({"input": program})), "a.rs b.rs | c.rs");
    assert_eq!(access("exec", json!(program)), "a.rs b.rs | c.rs");
}

proptest! {
    #[test]
    fn access_of_random_commands_does_not_panic(text in r#"(?s)([a-z é]|[$'"`(){}|&;<>\\#=*\n-]|<<E|cat |sed -i |bash -c |tools\.|cmd:|\*\*\* Begin Patch\n){0,60}"#) {
        for input in [json!(text), json!({"command": text}), json!({"input": text}), json!({"path": text, "content": ""})] {
            let Access { reads, writes } = access_of("bash", &input);
            for path in reads.iter().chain(&writes) {
                prop_assert!(is_path(path));
            }
        }
    }

    /// Quoted file names are found, whatever characters they contain.
    #[test]
    fn shell_quoting_of_file_names_is_undone(names in prop::collection::vec("[a-z][ -~é]{0,12}", 1..4), doubled: bool) {
        let quoted = |name: &String| if doubled {
            format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "\\$").replace('`', "\\`"))
        } else {
            format!("'{}'", name.replace('\'', r"'\''"))
        };
        let script = format!("cat {}", names.iter().map(quoted).collect::<Vec<_>>().join(" "));
        let expected = Access { reads: names.iter().map(Cow::from).collect(), ..Access::default() }.deduplicated();
        let input = json!({"command": script});
        prop_assert_eq!(access_of("Bash", &input), expected);
    }
}

fn effect(tool: &str, input: &Value) -> Effect {
    effect_of(tool, input, &access_of(tool, input))
}

#[test]
fn effect_says_whether_a_call_can_be_made_again() {
    for script in [
        "ls src",
        "cd src && ls -la; pwd",
        "find . -name '*.rs' | xargs grep -n max_idle | head -3",
        "grep -rn max_idle src 2>/dev/null || true",
        "git -C /a log --oneline -5 && git status --short",
        "git branch -vv",
        "git stash list",
        "gh pr view 12 --json title; gh api repos/a/b",
        "cargo test evict_idle 2>&1 | tail -20",
        "RUST_LOG=debug timeout 60 cargo nextest run",
        "go test ./... ",
        "npm run test:unit -- pool && npx tsc --noEmit",
        "python -m pytest -x tests/pool.py",
        "make check",
        "npm ls",
        "bash -lc 'ls src'",
        "for f in a b; do cat $f; done",
        "curl -s https://a.example/x",
        "sed -n 1,5p pool.rs > /dev/null",
        "echo 1",
    ] {
        assert_eq!(effect("Bash", &json!({"command": script})), Effect::Reads, "{script}");
    }
    for script in [
        "",
        "rm -r out",
        "ls > list.txt",
        "ls | tee list.txt",
        "find . -name x -delete",
        "find . | xargs rm",
        "sed -i s/a/b/ pool.rs",
        "git commit -m x",
        "git branch new",
        "git stash",
        "gh pr create",
        "gh api -X POST repos/a/b",
        "curl -X POST https://a.example/x",
        "curl -o x https://a.example/x",
        "npm install",
        "make list",
        "npm run deploy",
        "eslint --fix .",
        "python build.py",
        "./run.sh",
        "echo $(rm x)",
        "echo `rm x`",
        "cat <(rm x)",
        "bash -c 'rm x'",
        "cat > pool.rs <<EOF\nx\nEOF",
    ] {
        assert_eq!(effect("Bash", &json!({"command": script})), Effect::Changes, "{script}");
    }
    for (tool, input, expected) in [
        ("Grep", json!({"pattern": "fn"}), Effect::Reads),
        ("Glob", json!({"pattern": "*.rs", "path": "src"}), Effect::Reads),
        ("WebSearch", json!({"query": "x"}), Effect::Reads),
        ("get_user_details", json!({"user_id": "x"}), Effect::Reads),
        ("mcp__fs__list-files", json!({}), Effect::Reads),
        ("Edit", json!({"file_path": "b.rs", "old_string": "x", "new_string": ""}), Effect::Changes),
        ("cancel_order", json!({"order_id": "x"}), Effect::Changes),
        ("widget", json!({}), Effect::Changes),
        ("Task", json!({"prompt": "Mend it"}), Effect::Changes),
        ("TodoWrite", json!({"todos": []}), Effect::Nothing),
        ("update_plan", json!({"plan": []}), Effect::Nothing),
        ("shell", json!({"command": ["bash", "-lc", "ls src"]}), Effect::Reads),
        ("shell", json!({"command": ["rm", "x"]}), Effect::Changes),
        ("exec", json!("const r = await tools.exec_command({cmd: \"git diff\"})"), Effect::Reads),
        ("exec", json!("await tools.exec_command({cmd: \"git diff\"}); await tools.apply_patch(\"x\")"), Effect::Changes),
        ("exec", json!("await tools.exec_command({cmd: \"git add .\"})"), Effect::Changes),
    ] {
        assert_eq!(effect(tool, &input), expected, "{tool} {input}");
    }
}
