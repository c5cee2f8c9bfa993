#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| horngate_fuzz::evaluate(data));
