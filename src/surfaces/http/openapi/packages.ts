/** The part of the OpenAPI description about the packages that the service gives to its users. */
import { JSON_TYPE, type Json } from './service.ts';

const BYTES: Json = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };

const packagesPath: Json = {
  get: {
    operationId: 'listPackages',
    summary: 'List the packages to install',
    description: 'Clients of this service: its command line, the bridge for MCP clients, and its SDKs.',
    tags: ['Service'],
    security: [],
    responses: {
      '200': {
        description: 'The packages, and the address that programs reach this service at.',
        content: {
          [JSON_TYPE]: {
            schema: {
              type: 'object',
              required: ['url', 'packages'],
              properties: {
                url: { type: 'string' },
                packages: {
                  type: 'array',
                  items: {
                    type: 'object',
                    required: ['name', 'alias', 'bytes', 'sha256'],
                    properties: {
                      name: { type: 'string' },
                      alias: { type: ['string', 'null'], description: 'Name that stays in each version.' },
                      bytes: { type: 'integer' },
                      sha256: { type: 'string' },
                    },
                  },
                },
              },
            },
          },
        },
      },
      '4XX': { $ref: '#/components/responses/Failure' },
    },
  },
};

const packagePath: Json = {
  get: {
    operationId: 'fetchPackage',
    summary: 'Fetch a package',
    tags: ['Service'],
    security: [],
    parameters: [
      {
        name: 'name',
        in: 'path',
        required: true,
        description: 'Name or alias of a package.',
        schema: { type: 'string' },
      },
    ],
    responses: {
      '200': { description: 'The package.', content: BYTES },
      '4XX': { $ref: '#/components/responses/Failure' },
    },
  },
};

export const packagesPaths: Json = { '/packages': packagesPath, '/packages/{name}': packagePath };
