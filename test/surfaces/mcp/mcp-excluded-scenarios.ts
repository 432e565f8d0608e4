/**
 * Server scenarios of @modelcontextprotocol/conformance that cannot apply to this service, by the reason why,
 * as `scenario` or `scenario:check`. One that passes all the same fails the test: then it must leave this list.
 */
export const excludedScenarios: { reason: string; scenarios: string[] }[] = [
  {
    reason: 'calls fixture tools that only the reference server has (test_simple_text, test_image_content …)',
    scenarios: [
      'tools-call-simple-text',
      'tools-call-image',
      'tools-call-audio',
      'tools-call-embedded-resource',
      'tools-call-mixed-content',
      'tools-call-with-logging',
      'tools-call-error',
      'tools-call-with-progress',
      'json-schema-2020-12',
      'http-custom-header-server-validation',
      'server-stateless:sep-2575-server-rejects-undeclared-capability',
      'server-stateless:sep-2575-missing-capability-http-400',
      'server-stateless:sep-2575-http-server-no-independent-requests-on-stream',
      'server-stateless:sep-2575-server-no-log-without-loglevel',
    ],
  },
  {
    reason: 'fixture tools that ask the client for input; no tool of this service does',
    scenarios: [
      'tools-call-sampling',
      'tools-call-elicitation',
      'elicitation-sep1034-defaults',
      'elicitation-sep1330-enums',
      'input-required-result-basic-elicitation',
      'input-required-result-basic-sampling',
      'input-required-result-basic-list-roots',
      'input-required-result-request-state',
      'input-required-result-multiple-input-requests',
      'input-required-result-multi-round',
      'input-required-result-missing-input-response',
      'input-required-result-ignore-extra-params',
      'input-required-result-non-tool-request',
      'input-required-result-result-type',
      'input-required-result-tampered-state',
      'input-required-result-capability-check',
    ],
  },
  {
    reason: 'the service declares tools only: no resources',
    scenarios: [
      'resources-list',
      'resources-read-text',
      'resources-read-binary',
      'resources-templates-read',
      'resources-subscribe',
      'resources-unsubscribe',
      'sep-2164-resource-not-found',
      'caching:sep-2549-resources-list-caching-hints',
      'caching:sep-2549-resources-templates-list-caching-hints',
    ],
  },
  {
    reason: 'the service declares tools only: no prompts',
    scenarios: [
      'prompts-list',
      'prompts-get-simple',
      'prompts-get-with-args',
      'prompts-get-embedded-resource',
      'prompts-get-with-image',
      'caching:sep-2549-prompts-list-caching-hints',
    ],
  },
  {
    reason:
      'the service declares tools only: no logging, which the current revision deprecates, no completion',
    scenarios: ['logging-set-level', 'completion-complete'],
  },
  {
    reason: 'a fixture tool, and streams that can be resumed; here a stream belongs to its one request',
    scenarios: ['server-sse-polling'],
  },
];
