/** Memory bounds shared by the surfaces that serve members: one instance for all of them. */
import { AnswerRoom } from '../fairness/answer-room.ts';
import { JsonBodies } from './json/bodies.ts';

export class SharedRoom {
  readonly bodies = new JsonBodies();
  readonly answers = new AnswerRoom();
}
