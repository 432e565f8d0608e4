//! Masks the text of an answer's body while it streams. Its length stays.

use super::fields::scrub_fields;
use crate::secrets::{Mask, Masker};
use hyper::HeaderMap;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

pub struct Scrubbed {
    body: Incoming,
    masks: Vec<Arc<Mask>>,
    /// None for a body that is not text.
    masker: Option<Masker>,
    /// Trailers, which wait for the last bytes of the text.
    trailers: Option<HeaderMap>,
    is_over: bool,
    /// Bytes searched in this turn, counted once for each mask.
    scanned: usize,
}

/// After this many bytes others get their turn.
const SCANNED_A_TURN: usize = 4 * 1024 * 1024;

impl Scrubbed {
    pub fn new(body: Incoming, masks: Vec<Arc<Mask>>, is_text: bool) -> Scrubbed {
        let masker = is_text.then(|| Masker::new(masks.clone()));
        Scrubbed {
            body,
            masks,
            masker,
            trailers: None,
            is_over: false,
            scanned: 0,
        }
    }

    fn finish(&mut self) -> Bytes {
        self.masker.as_mut().map(Masker::finish).unwrap_or_default()
    }

    fn holds(&self) -> usize {
        self.masker.as_ref().map_or(0, Masker::holds)
    }
}

impl Body for Scrubbed {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let this = &mut *self;
        if this.scanned > SCANNED_A_TURN {
            this.scanned = 0;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        while !this.is_over {
            let Some(frame) = ready!(Pin::new(&mut this.body).poll_frame(context)?) else {
                this.is_over = true;
                break;
            };
            match frame.into_data() {
                Ok(data) => {
                    let data = match &mut this.masker {
                        Some(masker) => {
                            this.scanned += data.len() * this.masks.len();
                            masker.push(data)
                        }
                        None => data,
                    };
                    if !data.is_empty() {
                        return Poll::Ready(Some(Ok(Frame::data(data))));
                    }
                }
                Err(frame) => {
                    this.is_over = true;
                    this.trailers = frame.into_trailers().ok();
                }
            }
        }
        let rest = this.finish();
        if !rest.is_empty() {
            return Poll::Ready(Some(Ok(Frame::data(rest))));
        }
        let trailers = this.trailers.take().map(|mut trailers| {
            scrub_fields(&mut trailers, &this.masks);
            Ok(Frame::trailers(trailers))
        });
        Poll::Ready(trailers)
    }

    fn is_end_stream(&self) -> bool {
        self.holds() == 0 && self.trailers.is_none() && (self.is_over || self.body.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        match self.holds() {
            0 => self.body.size_hint(),
            _ => SizeHint::default(),
        }
    }
}
