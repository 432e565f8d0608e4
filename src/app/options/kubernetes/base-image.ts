/** The standard base image. */
import { flag } from '../flag.ts';

export const baseImage = flag({
  name: 'base-image',
  default: '',
  group: 'kubernetes',
  help: 'the standard base image, with its registry',
  parse: (text) => text,
});
