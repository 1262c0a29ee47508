//! What the settings of `clear` say about the layer, and which do not go together.

use recompact::engine::layer::clear::{Clear, Save};
use recompact::engine::layer::{Action, Remains, ResultFilter, Stability};

/// Each kind of clearing: what remains of a result, whether parts of it remain, and whether a request's copy can be extended.
#[test]
fn traits_follow_from_the_settings() {
    let plain = Clear::default();
    let by_size =
        Clear { filter: ResultFilter { keep_recent_tokens: Some(80.into()), ..Clear::default().filter }, ..Clear::default() };
    let in_batches = Clear { clear_at_least: 1.into(), ..Clear::default() };
    let both = Clear { clear_at_least: 1.into(), ..by_size.clone() };
    let in_file = Save { to: Some("out/{id}".into()), ..Save::default() };
    let saved = Clear { save: in_file.clone(), placeholder: "{path}".to_owned(), ..Clear::default() };
    let preview = Clear { save: Save { preview_chars: 1, ..in_file }, ..saved.clone() };
    let cases = [
        (&plain, Remains::Nothing, false, Stability::Stable),
        (&by_size, Remains::Nothing, false, Stability::Alone),
        (&in_batches, Remains::Nothing, false, Stability::Unstable),
        (&both, Remains::Nothing, false, Stability::Unstable),
        (&saved, Remains::File, false, Stability::Unstable),
        (&preview, Remains::File, true, Stability::Unstable),
    ];
    for (clear, remains, keeps_parts, stability) in cases {
        let traits = clear.traits();
        let given = (traits.remains, traits.keeps_parts, traits.stability, traits.rewrites_in_place);
        assert_eq!(given, (Some(remains), keeps_parts, stability, remains == Remains::Nothing), "{clear:?}");
        assert_eq!(clear.check(), Ok(()), "{clear:?}");
    }
}

#[test]
fn settings_that_do_not_go_together_are_refused() {
    let wrong = |clear: Clear| clear.check().map_err(|wrong| wrong.setting);
    let save = |save: Save| wrong(Clear { save, ..Clear::default() });
    assert_eq!(save(Save { to: Some("out/{id}".into()), ..Save::default() }), Err("placeholder"));
    assert_eq!(wrong(Clear { placeholder: "{path}".to_owned(), ..Clear::default() }), Ok(()), "a text like any other");
    assert_eq!(save(Save { preview_chars: 1, ..Save::default() }), Err("save.preview_chars"));
    assert_eq!(wrong(Clear { stride: 0, ..Clear::default() }), Err("stride"));
    assert_eq!(wrong(Clear { stride: 2, ..Clear::default() }), Ok(()));
    assert_eq!(wrong(Clear { stride: 2, clear_at_least: 1.into(), ..Clear::default() }), Err("stride"));
    assert_eq!(wrong(Clear { stride: 1, clear_at_least: 1.into(), ..Clear::default() }), Ok(()));
}
