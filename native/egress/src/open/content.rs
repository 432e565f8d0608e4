//! A body in either direction.

use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Bytes;

pub type Content = UnsyncBoxBody<Bytes, hyper::Error>;
