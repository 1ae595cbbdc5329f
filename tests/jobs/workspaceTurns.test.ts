import { WorkspaceTurns } from '../../jobs/workspaceTurns.ts';

/** Starts jobs of the workspaces, each with more of them than there are places, in their order; returns the starts. */
function fill(turns: WorkspaceTurns, waiting: readonly string[]): string[] {
  const starts: string[] = [];
  for (;;) {
    if (turns.free === 0) return starts;
    let next = waiting.find((workspaceId) => !turns.excluded().includes(workspaceId));
    if (next === undefined) {
      turns.startRound();
      next = waiting.find((workspaceId) => !turns.excluded().includes(workspaceId));
    }
    if (next === undefined) return starts;
    turns.started(next);
    starts.push(next);
  }
}

const countOf = (starts: readonly string[], workspaceId: string) =>
  starts.filter((each) => each === workspaceId).length;

test.each([
  [1, 1],
  [2, 1],
  [4, 3],
  [64, 56],
])('of %i places one workspace alone takes %i', (places, taken) => {
  expect(fill(new WorkspaceTurns(places), ['a'])).toHaveLength(taken);
});

test('two workspaces with much to do share the places, and another one finds one at once', () => {
  const turns = new WorkspaceTurns(64);
  const starts = fill(turns, ['a', 'b']);
  expect([countOf(starts, 'a'), countOf(starts, 'b')]).toEqual([30, 29]);
  expect(turns.free).toBeGreaterThan(0);
  expect(turns.excluded()).toEqual(expect.arrayContaining(['a', 'b']));
  expect(turns.excluded()).not.toContain('c');
});

test('when all places are taken, a workspace that has just come gets one within a round', () => {
  const turns = new WorkspaceTurns(2);
  const many = ['a', 'b', 'c'];
  const [first] = fill(turns, many);
  const starts: string[] = [];
  for (let held = first ?? ''; !starts.includes('new'); held = starts.at(-1) ?? '') {
    turns.ended(held);
    starts.push(...fill(turns, [...many, 'new']));
  }
  expect(starts.length).toBeLessThanOrEqual(many.length + 1);
});

test('places come back as jobs end', () => {
  const turns = new WorkspaceTurns(4);
  expect(fill(turns, ['a'])).toHaveLength(3);
  turns.ended('a');
  expect(turns.free).toBe(2);
  expect(fill(turns, ['a'])).toEqual(['a']);
});
