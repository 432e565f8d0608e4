/** All routes of the toolbox, the API of one sandbox, and those that stream. */
import type { FastifyInstance } from 'fastify';
import type { DaytonaDependencies, DaytonaRoute } from '../base/route.ts';
import { addFileStreams, fileRoutes } from './files/index.ts';
import { gitRoutes } from './git.ts';
import { addProcessStreams, processRoutes } from './process/index.ts';

export const toolboxRoutes: readonly DaytonaRoute[] = [...fileRoutes, ...processRoutes, ...gitRoutes];

/** Adds routes that leave their bodies unread, and WebSockets. */
export function addToolboxStreams(app: FastifyInstance, root: string, parts: DaytonaDependencies): void {
  addFileStreams(app, root, parts);
  addProcessStreams(app, root, parts);
}
