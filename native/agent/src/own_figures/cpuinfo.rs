//! `/proc/cpuinfo` of a sandbox: the host's first processor, as often as the sandbox may use processors at once.

use std::fmt::Write;

/// @param host The host's, or its first block.
pub fn text(host: &str, cpus: u64) -> String {
    let block = host.split("\n\n").next().unwrap_or_default();
    let mut text = String::new();
    for cpu in 0..cpus {
        for line in block.lines() {
            let (name, _) = line.split_once(':').unwrap_or((line, ""));
            let _ = match name.trim_end() {
                "processor" | "core id" | "apicid" | "initial apicid" => {
                    writeln!(text, "{name}: {cpu}")
                }
                "siblings" | "cpu cores" => writeln!(text, "{name}: {cpus}"),
                _ => writeln!(text, "{line}"),
            };
        }
        text.push('\n');
    }
    text
}

/// A list of processors, in the kernel's form.
pub fn list(cpus: u64) -> String {
    match cpus {
        1 => "0\n".to_owned(),
        _ => format!("0-{}\n", cpus - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_the_first_processor_with_its_own_numbers() {
        let host =
            "processor\t: 0\nmodel name\t: M\nsiblings\t: 64\ncore id\t\t: 9\n\nprocessor\t: 1\n\n";
        assert_eq!(
            text(host, 2),
            "processor\t: 0\nmodel name\t: M\nsiblings\t: 2\ncore id\t\t: 0\n\n\
             processor\t: 1\nmodel name\t: M\nsiblings\t: 2\ncore id\t\t: 1\n\n"
        );
    }

    #[test]
    fn one_processor_is_no_range() {
        assert_eq!(list(1), "0\n");
        assert_eq!(list(4), "0-3\n");
    }
}
