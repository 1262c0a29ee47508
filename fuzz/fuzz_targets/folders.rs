#![no_main]

recompact_fuzz::fuzz!(folders);
