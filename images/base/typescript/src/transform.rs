//! TypeScript to JavaScript, as Node does it for `--experimental-transform-types`: amaro's options, amaro's crate.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use swc_common::errors::{DiagnosticBuilder, Emitter, HANDLER, Handler};
use swc_common::sync::Lrc;
use swc_common::{GLOBALS, SourceMap};
use swc_ecma_parser::TsSyntax;
use swc_ecma_transforms_typescript::typescript::{Config, ImportsNotUsedAsValues};
use swc_ts_fast_strip::{Mode, Options, TransformConfig, operate};

/// The name that Node gives to code of standard input.
const FILE_NAME: &str = "[eval]";

/// Returns the JavaScript with its source map, or nothing where the text is wrong: Node says how.
pub fn to_javascript(typescript: String) -> Option<String> {
    let sources = Lrc::new(SourceMap::default());
    let handler = Handler::with_emitter(true, false, Box::new(Silent));
    let made = GLOBALS.set(&Default::default(), || {
        HANDLER.set(&handler, || {
            operate(&sources, &handler, typescript, options())
        })
    });
    let output = made.ok().filter(|_| !handler.has_errors())?;
    let map = STANDARD.encode(output.map?);
    Some(format!(
        "{}\n\n//# sourceMappingURL=data:application/json;base64,{map}",
        output.code
    ))
}

fn options() -> Options {
    Options {
        filename: Some(FILE_NAME.to_owned()),
        parser: TsSyntax {
            decorators: true,
            ..Default::default()
        },
        mode: Mode::Transform,
        transform: Some(TransformConfig {
            typescript: Config {
                verbatim_module_syntax: true,
                native_class_properties: true,
                no_empty_export: true,
                import_not_used_as_values: ImportsNotUsedAsValues::Preserve,
                ..Default::default()
            },
        }),
        deprecated_ts_module_as_error: Some(true),
        source_map: true,
        ..Default::default()
    }
}

struct Silent;

impl Emitter for Silent {
    fn emit(&mut self, _: &mut DiagnosticBuilder<'_>) {}

    fn take_diagnostics(&mut self) -> Vec<String> {
        Vec::new()
    }
}
