//! The golden exchanges of `protocol/frames`, which tests of both languages replay.

use serde_json::Value;
use std::fs;
use std::path::PathBuf;

const BREACHES: &str = "breaches";

/// Each with its name.
pub fn exchanges() -> Vec<(String, Value)> {
    let mut all = files();
    all.retain(|(name, _)| name != BREACHES);
    all
}

/// Frames that no side may send.
pub fn breaches() -> Vec<Value> {
    let all = files();
    let (_, breaches) = all.iter().find(|(name, _)| name == BREACHES).unwrap();
    breaches.as_array().unwrap().clone()
}

fn files() -> Vec<(String, Value)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../protocol/frames");
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            (
                path.file_stem().unwrap().to_string_lossy().into_owned(),
                value,
            )
        })
        .collect()
}

pub fn unhex(text: &str) -> Vec<u8> {
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}
