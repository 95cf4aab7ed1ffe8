//! See `rethread_fuzz::samp`.
#![no_main]
#![allow(unsafe_code, reason = "libFuzzer calls it by its name in C")]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rethread_fuzz::samp(data));
