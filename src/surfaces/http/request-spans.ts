/**
 * The first span of a request: from its arrival to the end of its answer. Requests without a valid key have none, so
 * strangers cause no spans, and nothing that they send names a trace.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { beneath, type Span, type Tracer } from '../../concurrency/span.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** null without traces, and for what is not sampled. */
    span: Span | null;
  }
}

/** @param app With the hooks that check the key: those here come after them. */
export function addRequestSpans(app: FastifyInstance, tracer: Tracer | null): void {
  app.decorateRequest('span', null);
  if (tracer === null) return;
  app.addHook('onRequest', async (request, reply) => {
    if (request.routeOptions.config?.open) return;
    const { method, headers, routeOptions, id } = request;
    const route = routeOptions.url;
    const begunAt = performance.now() - reply.elapsedTime;
    request.span = tracer.begin({
      name: route === undefined ? method : `${method} ${route}`,
      attributes: {
        'http.request.method': method,
        ...(route === undefined ? {} : { 'http.route': route }),
        'sandhaven.request_id': id,
      },
      request: { parent: headerOf(headers['traceparent']), state: stateOf(headers['tracestate']), begunAt },
    });
    reply.raw.once('close', () => endSpan(request, reply.raw.statusCode));
  });
  // Here and not before: a body arrives in the context of its connection, which serves other requests too.
  app.addHook('preHandler', (request, _reply, done) => beneath(tracer, request.span, done));
}

function endSpan({ span, outcome, abandoned }: FastifyRequest, status: number): void {
  span?.set({ 'http.response.status_code': status });
  span?.end(abandoned ? 'cancelled' : (outcome ?? 'ok'));
}

/** Of several parents none counts. */
function headerOf(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** A list may come in several headers. */
function stateOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(',') : value;
}
