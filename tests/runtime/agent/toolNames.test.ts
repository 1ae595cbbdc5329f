import type { AgentTool } from '../../../runtime/agent/tool.ts';
import { toolName, uniqueNames } from '../../../runtime/agent/toolNames.ts';
import { ownTool, toolOf } from './tools.ts';

const FITS = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

function namesOf(...tools: AgentTool[]): string[] {
  const names = uniqueNames(tools);
  return tools.map((tool) => names.get(tool) ?? '');
}

/** By its name alone, at every place among others. */
function nameAmong(tool: AgentTool, ...others: AgentTool[]): string {
  const seen = others.concat(tool).map((_, place) => {
    const tools = others.toSpliced(place, 0, tool);
    return uniqueNames(tools).get(tool) ?? '';
  });
  expect(new Set(seen).size).toBe(1);
  return seen[0] ?? '';
}

describe('a text as a name', () => {
  test.each([
    ['create_issue', 'create_issue'],
    ['GITHUB-create', 'GITHUB-create'],
    ['Get order: now', 'Get_order_now'],
    ['café.menü', 'cafe_menu'],
    ['2fa', '_2fa'],
    ['-dash', '_-dash'],
    ['заказ', 'tool'],
    ['', 'tool'],
    ['🙂', 'tool'],
    ['a'.repeat(200), 'a'.repeat(64)],
    [`${'a'.repeat(63)}🙂b`, `${'a'.repeat(63)}_`],
  ])('%j is %j', (text, name) => {
    expect(toolName(text)).toBe(name);
    expect(name).toMatch(FITS);
  });
});

describe('the name of a tool', () => {
  test('is its own while nobody else wants it', () => {
    expect(namesOf(toolOf('create_issue', 'GitHub'), toolOf('send', 'Slack'), toolOf('order', null))).toEqual([
      'create_issue',
      'send',
      'order',
    ]);
  });

  test('has the owner before it where tools of two owners want it, whichever comes first', () => {
    const [github, gitlab] = [toolOf('create_issue', 'Git Hub!'), toolOf('create_issue', 'gitlab')];
    expect(nameAmong(github, gitlab)).toBe('Git_Hub___create_issue');
    expect(nameAmong(gitlab, github)).toBe('gitlab__create_issue');
  });

  test('does not change when other tools come and go', () => {
    const tool = toolOf('create_issue', 'github');
    const rival = toolOf('create_issue', 'gitlab');
    const others = [toolOf('send', 'slack'), toolOf('send', 'gmail'), toolOf('issue', null), ownTool('remember')];
    expect(nameAmong(tool, rival)).toBe(nameAmong(tool, rival, ...others));
    expect(nameAmong(tool)).toBe(nameAmong(tool, ...others));
  });

  test('stays that of a tool without an owner when a server brings the same', () => {
    const [mine, theirs] = [toolOf('create_issue', null), toolOf('create_issue', 'github')];
    expect([nameAmong(mine, theirs), nameAmong(theirs, mine)]).toEqual(['create_issue', 'github__create_issue']);
  });

  test('stays that of the run-time whatever anybody calls his tools', () => {
    const own = ownTool('search_knowledge', { owner: 'guildhall' });
    const rivals = [toolOf('search_knowledge', null), toolOf('search_knowledge', 'evil')];
    expect(nameAmong(own, ...rivals)).toBe('search_knowledge');
    expect(nameAmong(rivals[1] as AgentTool, own)).toBe('evil__search_knowledge');
    expect(nameAmong(rivals[0] as AgentTool, own)).toMatch(/^search_knowledge_[0-9a-f]{8}$/);
  });

  test('gets a digest of its origin where owners have one name too, the same in each turn', () => {
    const [one, two] = [toolOf('send', 'Slack'), toolOf('send', 'Slack')];
    const name = nameAmong(one, two);
    expect(name).toMatch(/^Slack__send_[0-9a-f]{8}$/);
    expect(nameAmong(two, one)).not.toBe(name);
    expect(nameAmong({ ...one }, { ...two }, toolOf('send', 'gmail'))).toBe(name);
  });

  test('gets a suffix where only shortening or replaced characters made it equal to another', () => {
    const long = 'x'.repeat(70);
    const names = namesOf(
      toolOf(`${long}1`, 'a'),
      toolOf(`${long}2`, 'a'),
      toolOf('find!', null),
      toolOf('find?', null),
      toolOf('заказ', null),
      toolOf('найти', null),
      toolOf(`${long}3`, 'b'.repeat(50)),
    );
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(FITS);
  });

  test('cannot be taken by somebody who knows how names are made', () => {
    const [one, two] = [toolOf('send', 'Slack'), toolOf('send', 'gmail')];
    const guesses = [toolOf('Slack__send', 'evil'), toolOf('gmail__send', null)];
    const [first, second, ...rest] = namesOf(one, two, ...guesses);
    expect(rest).toEqual(['Slack__send', 'gmail__send']);
    expect([first, second]).toEqual([expect.stringMatching(/^Slack__send_/), expect.stringMatching(/^gmail__send_/)]);
    const again = namesOf(one, two, ...guesses, toolOf(String(first), 'evil'));
    expect(new Set(again).size).toBe(5);
  });
});
