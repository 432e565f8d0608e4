//! The longest text that every match of an expression contains. Lines without it need no further check.

use super::syntax::Node;

/// Shorter texts occur too often to be worth a search of their own.
const MIN_BYTES: usize = 4;

pub fn required_text(node: &Node) -> Option<String> {
    let mut texts = Texts::default();
    texts.visit(node);
    texts.end_run();
    (texts.longest.len() >= MIN_BYTES).then_some(texts.longest)
}

#[derive(Default)]
struct Texts {
    run: String,
    longest: String,
}

impl Texts {
    fn visit(&mut self, node: &Node) {
        match node {
            Node::Char(character) => self.run.push(*character),
            Node::Empty | Node::Look(_) => {}
            Node::Group(_, node) => self.visit(node),
            Node::Sequence(nodes) => nodes.iter().for_each(|node| self.visit(node)),
            Node::Repeat { node, min, .. } => {
                self.end_run();
                if *min > 0 {
                    self.visit(node);
                    self.end_run();
                }
            }
            Node::Set(_) | Node::Backreference(_) | Node::Alternatives(_) => self.end_run(),
        }
    }

    fn end_run(&mut self) {
        if self.run.len() > self.longest.len() {
            self.longest = std::mem::take(&mut self.run);
        }
        self.run.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::super::ere::parse;
    use super::*;

    #[test]
    fn only_what_no_match_can_lack_is_required() {
        for (query, expected) in [
            ("hello", Some("hello")),
            ("^ +[a-z]+ needle", Some(" needle")),
            ("(hello) world", Some("hello world")),
            ("hell(o|a) world", Some(" world")),
            ("helloo*", Some("hello")),
            ("hello?", Some("hell")),
            ("(hello)+x", Some("hello")),
            ("(hello)*x", None),
            ("hello|world", None),
            ("abc", None),
            ("\\bhello\\b there", Some("hello there")),
        ] {
            let expression = parse(query).map_err(|_| query).unwrap();
            let text = required_text(&expression.node);
            assert_eq!(text.as_deref(), expected, "{query}");
        }
    }
}
