//! Exclusions from a list of files: globs of names, or of paths where they have a slash.

use crate::files::glob::Glob;
use crate::wire::fault::Fault;

const MAX_GLOBS: usize = 1_000;
const ROOT: &str = "/workspace/";

pub struct Exclusions(Vec<Glob>);

impl Exclusions {
    pub fn parse(patterns: &[String]) -> Result<Self, Fault> {
        if patterns.len() > MAX_GLOBS {
            let detail = format!("'exclude' has more than {MAX_GLOBS} globs.");
            return Err(Fault::invalid("exclude", detail));
        }
        let globs = patterns.iter().map(|pattern| {
            Glob::new(local(pattern).trim_end_matches('/')).map_err(|reason| {
                Fault::invalid("exclude", format!("'{pattern}' is not a glob: {reason}."))
            })
        });
        Ok(Self(globs.collect::<Result<_, _>>()?))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True where a path, or a folder on the way to it, is left out.
    pub fn cover(&self, path: &str) -> bool {
        let path = local(path);
        let ends = path.match_indices('/').map(|(end, _)| end);
        ends.chain([path.len()]).filter(|end| *end > 0).any(|end| {
            let folder = &path[..end];
            let name = folder.rsplit('/').next().unwrap_or(folder);
            self.0
                .iter()
                .any(|glob| glob.matches(if glob.of_path { folder } else { name }))
        })
    }

    /// The end of a message that no file matches.
    pub fn remark(&self) -> &'static str {
        match self.is_empty() {
            true => "",
            false => " that is not excluded",
        }
    }
}

/// Paths below the sandbox root are compared from there.
fn local(path: &str) -> &str {
    let path = path.strip_prefix(ROOT).unwrap_or(path);
    path.strip_prefix("./").unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(pattern: &str, path: &str) -> bool {
        Exclusions::parse(&[pattern.to_owned()])
            .unwrap()
            .cover(path)
    }

    #[test]
    fn a_name_is_left_out_wherever_it_is_and_a_path_from_the_root() {
        for (pattern, path, expected) in [
            ("*.min.js", "src/a.min.js", true),
            ("*.min.js", "src/a.js", false),
            ("node_modules", "a/node_modules/b/c.js", true),
            ("node_modules/", "a/node_modules/b/c.js", true),
            ("src/vendor", "src/vendor/a.c", true),
            ("src/vendor", "lib/src/vendor/a.c", false),
            ("**/vendor/*.c", "lib/src/vendor/a.c", true),
            ("/workspace/src/*.c", "src/a.c", true),
            ("src/*.c", "/workspace/src/a.c", true),
            ("./src/*.c", "./src/a.c", true),
            ("/etc/*", "/etc/hosts", true),
            ("etc/*", "/etc/hosts", false),
        ] {
            assert_eq!(covers(pattern, path), expected, "{pattern} of {path}");
        }
    }

    #[test]
    fn nothing_is_left_out_without_globs() {
        assert!(!Exclusions::parse(&[]).unwrap().cover("a"));
        assert!(Exclusions::parse(&["[a".to_owned()]).is_err());
    }
}
