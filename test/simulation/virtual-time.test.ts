import { afterEach, beforeEach, expect, it } from 'vitest';
import { VirtualTime } from './core/virtual-time.ts';

let time: VirtualTime;
let uninstall: () => void;
let events: string[];

beforeEach(() => {
  time = new VirtualTime(1_000_000);
  uninstall = time.install();
  events = [];
});
afterEach(() => uninstall());

const note = (name: string) => () => void events.push(`${name} at ${time.elapsedMs}`);

it('fires timers in the order of their times, and of their setting', () => {
  setTimeout(note('late'), 30);
  setTimeout(note('first'), 10);
  setTimeout(note('second'), 10);
  time.pass(9);
  expect(events).toEqual([]);
  time.pass(100);
  expect(events).toEqual(['first at 10', 'second at 10', 'late at 30']);
});

it('fires a timer of 0 ms after 1, as Node does', () => {
  setTimeout(note('soon'), 0);
  expect(time.untilNextMs()).toBe(1);
  time.pass(1);
  expect(events).toEqual(['soon at 1']);
});

it('repeats an interval until it is cleared', () => {
  const interval = setInterval(note('tick'), 10);
  time.pass(35);
  clearInterval(interval);
  time.pass(100);
  expect(events).toEqual(['tick at 10', 'tick at 20', 'tick at 30']);
  expect(time.untilNextMs()).toBeNull();
});

it('fires an interval once for all the times that it was due while its process was suspended, as Node does', () => {
  const process = {};
  time.of(process, () => setInterval(note('tick'), 10));
  time.stall(process);
  time.pass(35);
  time.resume(process);
  time.pass(15);
  expect(events).toEqual(['tick at 35', 'tick at 45']);
});

it('fires a timer that a timer sets within the same stretch', () => {
  setTimeout(() => setTimeout(note('inner'), 5), 10);
  time.pass(20);
  expect(events).toEqual(['inner at 15']);
});

it('never fires a cleared timer, and none after the end of the process', () => {
  clearTimeout(setTimeout(note('cleared'), 5));
  const [dead, living] = [{}, {}];
  time.of(dead, () => setTimeout(note('of a dead process'), 5));
  time.of(living, () => setTimeout(note('of a living one'), 5));
  time.clear(dead);
  time.pass(10);
  expect(events).toEqual(['of a living one at 5']);
});

it('fires the timers of a suspended process once it goes on, those that they set included', () => {
  const process = {};
  time.of(process, () => setTimeout(() => setTimeout(note('inner'), 5), 10));
  time.stall(process);
  time.pass(100);
  expect(events).toEqual([]);
  time.resume(process);
  time.pass(5);
  expect(events).toEqual(['inner at 105']);
});

it('sets the wall clock without moving timers', () => {
  setTimeout(note('timer'), 50);
  time.jump(-500_000);
  expect(time.now()).toBe(500_000);
  time.pass(50);
  expect(events).toEqual(['timer at 50']);
  expect(time.now()).toBe(500_050);
  expect(time.wasSetForwardWithin(50)).toBe(false);
  time.jump(1_000);
  time.pass(10);
  expect(time.wasSetForwardWithin(10)).toBe(true);
  expect(time.wasSetForwardWithin(9)).toBe(false);
});
