import { type ConfigFormat, UnreadableConfig } from '../../../../clients/cli/mcp/edit/format.ts';
import { jsonFormat } from '../../../../clients/cli/mcp/edit/json.ts';
import { tomlFormat } from '../../../../clients/cli/mcp/edit/toml.ts';

const entry = { command: '/usr/bin/node', args: ['/opt/guildhall-mcp.js', '--profile', 'work'] };
const lenient = jsonFormat({ comments: true });
const strict = jsonFormat({ comments: false });
const BACKSLASH = '\\';

/** Files with at least one other server, so that adding and removing ours must give the same bytes again. */
const jsonFiles: Record<string, string> = {
  'two spaces': '{\n  "theme": "dark",\n  "mcpServers": {\n    "other": { "command": "x" }\n  }\n}\n',
  'tabs and Windows line ends':
    '{\r\n\t"mcpServers": {\r\n\t\t"other": {\r\n\t\t\t"command": "x"\r\n\t\t}\r\n\t}\r\n}\r\n',
  'no line end at the end': '{\n    "mcpServers": {\n        "other": {}\n    },\n    "z": [1, 2 ,3]\n}',
  'one line': '{"a":1,"mcpServers":{"other":{"command":"x"}},"b":2}',
  'one line with spaces': '{ "mcpServers": { "other": { "command": "x" } } }\n',
  'numbers and escapes as somebody wrote them':
    '{\n  "n": 1.50e+3, "s": "\\u00e9\\/",\n  "mcpServers": {\n    "other": {}\n  }\n}\n',
};
const commentedFiles: Record<string, string> = {
  'a comment behind the last server': '{\n  "mcpServers": {\n    "other": {} // mine\n  }\n}\n',
  'a comment before the end': '{\n  "mcpServers": {\n    "other": {}\n    // the end\n  } /* x */\n}\n',
  'trailing commas': '{\n  "mcpServers": {\n    "other": {}, // mine\n  },\n}\n',
  'a comma on the next line': '{\n  "mcpServers": {\n    "one": {}\n    , "other": {}\n  }\n}\n',
  'a comment before everything': '// Servers\n{\n  "mcpServers": {\n    "other": {}\n  }\n}\n',
};
const tomlFiles: Record<string, string> = {
  'another server': '# mine\nmodel = "gpt"   # keep\n\n[mcp_servers.other]\ncommand = "x"\n# end\n',
  'Windows line ends': 'model = "gpt"\r\n\r\n[mcp_servers.other]\r\ncommand = "x"\r\n',
  'headers within a string': 'text = """\n[mcp_servers.guildhall]\ncommand = "no"\n"""\n[[list]]\nx = [1, # ]\n  2]\n',
  'an inline table under a header': "[mcp_servers]\nother = { command = 'x' }\n",
  'dotted keys': 'mcp_servers.other.command = "x"\n',
  'big numbers and dates': 'n = 9223372036854775807\nd = 1979-05-27T07:32:00Z\nf = 1.50\n',
};

function* cases(): Generator<[string, ConfigFormat, string, string]> {
  for (const [name, text] of Object.entries(jsonFiles)) yield [name, strict, 'mcpServers', text];
  for (const [name, text] of Object.entries({ ...jsonFiles, ...commentedFiles }))
    yield [name, lenient, 'mcpServers', text];
  for (const [name, text] of Object.entries(tomlFiles)) yield [name, tomlFormat, 'mcp_servers', text];
}

/** Whether the longer text has all signs of the shorter one, in their order: nothing was taken away. */
function isWithin(shorter: string, longer: string): boolean {
  let at = 0;
  for (const sign of longer) if (sign === shorter[at]) at += 1;
  return at === shorter.length;
}

describe('adding and removing a server', () => {
  test.each([...cases()])('%s: gives the same bytes again', (_name, format, section, text) => {
    const added = format.write(text, section, 'guildhall', entry);
    expect(format.read(added, section, 'guildhall')).toEqual(entry);
    expect(format.read(added, section, 'other')).toEqual(format.read(text, section, 'other'));
    expect(isWithin(text, added)).toBe(true);
    expect(/[^\r]\n/.test(added) && text.includes('\r\n')).toBe(false);
    expect(format.remove(added, section, 'guildhall')).toBe(text);
  });

  test.each([...cases()])(
    '%s: a change of the server and back gives the same bytes',
    (_name, format, section, text) => {
      const added = format.write(text, section, 'guildhall', entry);
      const changed = format.write(added, section, 'guildhall', { ...entry, args: ['/new.js'] });
      expect(format.read(changed, section, 'guildhall')).toEqual({ ...entry, args: ['/new.js'] });
      expect(format.write(changed, section, 'guildhall', entry)).toBe(added);
      expect(format.write(added, section, 'guildhall', entry)).toBe(added);
    },
  );
});

describe('a file without servers', () => {
  test.each([
    ['', '{\n  "mcpServers": {\n    "g": {\n      "command": "x"\n    }\n  }\n}\n'],
    ['\r\n', '{\r\n  "mcpServers": {\r\n    "g": {\r\n      "command": "x"\r\n    }\r\n  }\r\n}\r\n'],
    ['{}', '{\n  "mcpServers": {\n    "g": {\n      "command": "x"\n    }\n  }\n}'],
    ['{"a":1}', '{"a":1,"mcpServers":{"g":{"command":"x"}}}'],
    ['{"mcpServers":{}}', '{"mcpServers":{"g":{"command":"x"}}}'],
    ['{\n\t"a": 1\n}', '{\n\t"a": 1,\n\t"mcpServers": {\n\t\t"g": {\n\t\t\t"command": "x"\n\t\t}\n\t}\n}'],
  ])('%j', (text, expected) => {
    expect(strict.write(text, 'mcpServers', 'g', { command: 'x' })).toBe(expected);
  });

  test('a comment in an empty object stays before the server', () => {
    const added = lenient.write('{\n  // none yet\n}\n', 'servers', 'g', { command: 'x' });
    expect(added).toBe('{\n  // none yet\n  "servers": {\n    "g": {\n      "command": "x"\n    }\n  }\n}\n');
  });

  test('TOML that does not end with a line end gets one', () => {
    expect(tomlFormat.write('a = 1', 'mcp_servers', 'g', { command: 'x' })).toBe(
      'a = 1\n\n[mcp_servers.g]\ncommand = "x"\n',
    );
  });
});

describe('a change keeps what its user added to the server', () => {
  test('JSON: variables that stay are not written anew', () => {
    const text = '{"servers": {"g": {"env":{"A":"1"}, "command": "old"}}}';
    const current = lenient.read(text, 'servers', 'g');
    expect(current).toStrictEqual({ env: { A: '1' }, command: 'old' });
    expect(lenient.write(text, 'servers', 'g', { ...current, command: 'new' })).toBe(text.replace('old', 'new'));
  });

  test('a comment within the server goes with it, and no other', () => {
    const text =
      '{\n  // first\n  "servers": {\n    "g": { /* mine */ "command": "x" }, // beside\n    "o": {} // last\n  }\n}\n';
    expect(lenient.remove(text, 'servers', 'g')).toBe(
      '{\n  // first\n  "servers": {\n // beside\n    "o": {} // last\n  }\n}\n',
    );
  });

  test('JSON: fields, comments and their order', () => {
    const text =
      '{\n  "servers": {\n    "g": {\n      "command": "old", // mine\n      "args": [],\n      "dev": { "watch": "x" }\n    }\n  }\n}\n';
    const changed = lenient.write(text, 'servers', 'g', { command: 'new', args: [], dev: { watch: 'x' } });
    expect(changed).toBe(text.replace('"old"', '"new"'));
  });

  test('TOML: keys, comments, and a table for the variables', () => {
    const text =
      '[mcp_servers.g]\ncommand = "old" # mine\nargs = [\n  "a", # first\n]\nstartup_timeout_sec = 20\n\n[mcp_servers.g.env]\nA = "1" # a\n\n[other]\nx = 1\n';
    const current = tomlFormat.read(text, 'mcp_servers', 'g');
    expect(current).toEqual({ command: 'old', args: ['a'], startup_timeout_sec: 20n, env: { A: '1' } });
    const changed = tomlFormat.write(text, 'mcp_servers', 'g', {
      ...current,
      command: 'C:\\x',
      env: { A: '1', B: '2' },
    });
    expect(changed).toBe(text.replace('"old"', '"C:\\\\x"').replace('# a\n', '# a\nB = "2"\n'));
    expect(tomlFormat.remove(changed, 'mcp_servers', 'g')).toBe('\n[other]\nx = 1\n');
  });

  test.each([
    ['[mcp_servers.g]\ncommand = "a"\nenv = {A = "1"}\n', '[mcp_servers.g]\ncommand = "a"\nenv = { A = "2" }\n'],
    ['[mcp_servers.g]\ncommand = "a"\nenv.A = "1"\n', '[mcp_servers.g]\ncommand = "a"\nenv.A = "2"\n'],
    ['[mcp_servers]\ng.command = "a"\ng.env.A = "1"', '[mcp_servers]\ng.command = "a"\ng.env.A = "2"'],
    ['[mcp_servers."g"]\n"command" = "a"\nenv = {A = "1"}', '[mcp_servers."g"]\n"command" = "a"\nenv = { A = "2" }'],
    ['[mcp_servers.g]\ncommand = "a"\nenv = {A = """x """""}\n', '[mcp_servers.g]\ncommand = "a"\nenv = { A = "2" }\n'],
    [
      `[mcp_servers.g]\ncommand = "a"\n[mcp_servers.g.env]\nA = '''x'''''\n`,
      '[mcp_servers.g]\ncommand = "a"\n[mcp_servers.g.env]\nA = "2"\n',
    ],
  ])('TOML %j', (text, expected) => {
    expect(tomlFormat.write(text, 'mcp_servers', 'g', { command: 'a', env: { A: '2' } })).toBe(expected);
    expect(tomlFormat.read(tomlFormat.remove(text, 'mcp_servers', 'g'), 'mcp_servers', 'g')).toBeUndefined();
  });
});

describe('what cannot be read or changed safely is refused', () => {
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
  test.each<[string, ConfigFormat, string, string]>([
    ['half a file', strict, '{"mcpServers": {"a": {', 'is not valid JSON (line 1: '],
    ['a line number', strict, '{\n"a": 1,\n"b" 2}', '(line 3: ColonExpected)'],
    ['comments where the client reads none', strict, '{} // x', 'is not valid JSON'],
    ['a trailing comma where the client reads none', strict, '{"a": 1,}', 'is not valid JSON'],
    ['two values', lenient, '{} {}', 'is not valid JSON'],
    ['a list', lenient, '[]', 'does not hold a JSON object'],
    ['servers that are a list', lenient, '{"mcpServers": []}', 'has a mcpServers that is no object'],
    ['servers that are null', lenient, '{"mcpServers": null}', 'has a mcpServers that is no object'],
    ['two sections', lenient, '{"mcpServers": {}, "mcpServers": {}}', 'has "mcpServers" twice'],
    ['two servers', lenient, '{"mcpServers": {"guildhall": {}, "guildhall": {}}}', 'has "guildhall" twice'],
    ['JSON nested too deeply', lenient, `{"a": ${deep}}`, 'is nested too deeply'],
    ['half of TOML', tomlFormat, '[mcp_servers.a]\ncommand = "x', 'is not valid TOML'],
    ['TOML nested too deeply', tomlFormat, `a = ${deep}`, 'is not valid TOML (document contains excessively nested'],
    ['servers in one line', tomlFormat, 'mcpServers = { a = { command = "x" } }\n', 'cannot be changed safely'],
    ['a section that is a number', tomlFormat, 'mcpServers = 1\n', 'has a mcpServers that is no table'],
  ])('%s', (_name, format, text, message) => {
    expect(() => format.write(text, 'mcpServers', 'guildhall', entry)).toThrow(UnreadableConfig);
    expect(() => format.write(text, 'mcpServers', 'guildhall', entry)).toThrow(message);
  });

  test('a server of that name that is no object is replaced', () => {
    const written = strict.write('{"mcpServers":{"g":"x"}}', 'mcpServers', 'g', { command: 'x' });
    expect(written).toBe('{"mcpServers":{"g":{"command":"x"}}}');
  });

  test('strings of TOML with signs that look like its own are passed over', () => {
    const odd = `a = "x${BACKSLASH}" # no"\nb = '${BACKSLASH}'\nc = """a ""\\""" ""x"""""\nd = ''''''\ne = {f = "}", g = ["]"]}\n"k=[" = 1\n`;
    const added = tomlFormat.write(odd, 'mcp_servers', 'g', entry);
    expect(tomlFormat.remove(added, 'mcp_servers', 'g')).toBe(odd);
  });
});
