/** What the surfaces that serve members share of the service's memory: one of it for all of them. */
import { AnswerRoom } from '../fairness/answer-room.ts';
import { JsonBodies } from './json/bodies.ts';

export class SharedRoom {
  readonly bodies = new JsonBodies();
  readonly answers = new AnswerRoom();
}
