#[allow(dead_code, reason = "no command writes yet")]
mod output;
#[allow(dead_code, reason = "no command reads yet")]
mod source;

fn main() {}
