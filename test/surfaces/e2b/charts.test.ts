/** Figures as E2B's clients read them. */
import { expect, it } from 'vitest';
import { chartOf } from '../../../src/surfaces/e2b/envd/contexts.ts';

const axes = { x_label: 'Time (s)', y_label: 'Amplitude', x_scale: 'linear', y_scale: 'log' };

it('have the units behind the labels of their axes', () => {
  const points = [{ label: 'a', points: [[0, 1]] }];
  expect(chartOf({ type: 'line', title: 'T', ...axes, elements: points })).toEqual({
    ...{ type: 'line', title: 'T', ...axes, x_unit: 's', y_unit: null },
    elements: points,
  });
});

it('of boxes name the quartiles', () => {
  const box = { label: 'a', min: 1, q1: 2, median: 3, q3: 4, max: 5, outliers: [] };
  expect(chartOf({ type: 'box', title: null, elements: [box] })).toMatchObject({
    type: 'box_and_whisker',
    elements: [{ label: 'a', min: 1, first_quartile: 2, median: 3, third_quartile: 4, max: 5, outliers: [] }],
  });
});

it('of several axes are one chart of charts', () => {
  const parts = [
    { type: 'box', title: 'A', elements: [] },
    { type: 'pie', title: 'B', elements: [] },
  ];
  expect(chartOf({ type: 'composite', title: 'All', x_label: null, elements: parts })).toEqual({
    ...{ type: 'superchart', title: 'All' },
    elements: [
      { type: 'box_and_whisker', title: 'A', elements: [], x_unit: null, y_unit: null },
      { type: 'pie', title: 'B', elements: [], x_unit: null, y_unit: null },
    ],
  });
});
