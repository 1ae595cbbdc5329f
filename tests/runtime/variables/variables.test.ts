import { ApiError } from '../../../core/errors.ts';
import {
  checkDefinition,
  referencedNames,
  removeReferences,
  renderPrompt,
  type VariableDefinition,
  type VariableOption,
} from '../../../runtime/variables/variables.ts';

const variable = (name: string, type: VariableDefinition['type'], more: Partial<VariableDefinition> = {}) => ({
  name,
  type,
  required: false,
  ...more,
});

const OPTIONS: VariableOption[] = [
  { publicId: '019aa000-0000-7000-8000-000000000001', label: 'Second', injectedText: 'two', sortOrder: 2 },
  { publicId: '019aa000-0000-7000-8000-000000000002', label: 'First', injectedText: 'one', sortOrder: 1 },
  { publicId: '019aa000-0000-7000-8000-000000000003', label: 'Third', injectedText: 'three', sortOrder: 3 },
];

function faultOf(act: () => unknown): ApiError {
  try {
    act();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('expected a fault');
}

const render = (prompt: string, definitions: VariableDefinition[], values?: unknown) =>
  renderPrompt(prompt, definitions, values).text;

/** Each type with valid and invalid values. */
const FORMS: [VariableDefinition['type'], unknown[], unknown[]][] = [
  ['text_short', ['', 'Ada', 'x'.repeat(500), '😀'.repeat(500)], ['x'.repeat(501), 7, true, [], {}, 'a\0b', '\ud800']],
  ['text_long', ['', 'x'.repeat(10_000)], ['x'.repeat(10_001), 7, {}]],
  ['number', [0, -1.5, 1e300], ['7', Number.NaN, Number.POSITIVE_INFINITY, true, '']],
  [
    'date',
    ['2024-02-29', '2000-02-29', '0001-01-01'],
    [
      '2023-02-29',
      '1900-02-29',
      '2024-13-01',
      '2024-00-10',
      '2024-04-31',
      '24-01-01',
      '2024-1-1',
      '0000-01-01',
      ' 2024-01-01',
      '2024-01-01T00:00:00Z',
      20240101,
    ],
  ],
  ['time', ['00:00', '23:59', '23:59:59'], ['24:00', '12:60', '12:00:60', '1:00', '12', '12:00:00Z', 1200]],
  [
    'datetime',
    ['2024-02-29T12:00:00Z', '2024-02-29T12:00:00.123+05:30', '2024-01-01t00:00:00z', '2024-01-01 00:00:00-00:00'],
    [
      '2023-02-29T12:00:00Z',
      '2024-01-01T00:00:00',
      '2024-01-01',
      '2024-01-01T24:00:00Z',
      '2024-01-01T00:00Z',
      '2024-01-01T00:00:00+24:00',
      0,
    ],
  ],
  ['single_choice', ['First', OPTIONS[0]?.publicId], ['first', '', 'constructor', 1, ['First'], {}]],
  [
    'multi_choice',
    [[], ['First'], ['Third', OPTIONS[1]?.publicId]],
    ['First', ['First', 'First'], ['First', OPTIONS[1]?.publicId], ['Other'], [null], {}],
  ],
  ['bool', [true, false], ['true', 0, 1, '']],
];

const optionsFor = (type: VariableDefinition['type']) => (type.endsWith('_choice') ? OPTIONS : null);

describe('forms of values', () => {
  describe.each(FORMS)('%s', (type, good, bad) => {
    test.each(good.map((value) => [value]))('takes %j', (value) => {
      const definition = variable('v', type, { options: optionsFor(type) });
      expect(() => checkDefinition({ ...definition, defaultValue: value })).not.toThrow();
      expect(() => render('{{v}}', [definition], { v: value })).not.toThrow();
    });

    test.each(bad.map((value) => [value]))('refuses %j', (value) => {
      const definition = variable('v', type, { options: optionsFor(type) });
      expect(faultOf(() => checkDefinition({ ...definition, defaultValue: value }))).toMatchObject({
        code: 'VARIABLE_DEFAULT_INVALID',
        status: 422,
      });
      const error = faultOf(() => render('no reference', [definition], { v: value }));
      expect(error).toMatchObject({
        code: 'VALIDATION_ERROR',
        status: 400,
        details: [{ path: '/body/metadata/variables/v', keyword: 'type' }],
      });
    });

    test('takes null as no default', () => {
      expect(() =>
        checkDefinition(variable('v', type, { options: optionsFor(type), defaultValue: null })),
      ).not.toThrow();
    });
  });
});

describe('checkDefinition', () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ label: `L${index}`, injectedText: 'x' }));

  test.each([null, undefined, [], many(51), [...many(1), ...many(1)]])('a choice refuses options %#', (options) => {
    for (const type of ['single_choice', 'multi_choice'] as const) {
      expect(faultOf(() => checkDefinition(variable('v', type, { options })))).toMatchObject({
        code: 'VARIABLE_OPTIONS_INVALID',
        status: 422,
      });
    }
  });

  test('a choice accepts 1 and 50 options', () => {
    for (const count of [1, 50])
      expect(() => checkDefinition(variable('v', 'single_choice', { options: many(count) }))).not.toThrow();
  });

  test.each(FORMS.map(([type]) => type).filter((type) => !type.endsWith('_choice')))(
    '%s accepts no options',
    (type) => {
      expect(faultOf(() => checkDefinition(variable('v', type, { options: many(1) }))).code).toBe(
        'VARIABLE_OPTIONS_INVALID',
      );
      expect(() => checkDefinition(variable('v', type, { options: [] }))).not.toThrow();
    },
  );

  test('a text that is the label of one option and the id of another means the id', () => {
    const options = [
      { publicId: 'a', label: 'b', injectedText: 'by id a' },
      { publicId: 'b', label: 'c', injectedText: 'by id b' },
    ];
    expect(render('{{v}}', [variable('v', 'single_choice', { options })], { v: 'b' })).toBe('by id b');
  });
});

describe('references', () => {
  test('are found with and without spaces inside, once each', () => {
    expect([
      ...referencedNames('{{a}} {{ b }} {{\tc\t}} {{a}} {{{d}}} {{ _x }} {{A}} {{a-b}} {{a b}} {e} {{\nf}} {{}}'),
    ]).toEqual(['a', 'b', 'c', 'd']);
  });

  test('to one name are removed, all others stay', () => {
    expect(removeReferences('Hi {{name}}, {{ name }}! {{names}} {{nam}} {name}', 'name')).toBe(
      'Hi , ! {{names}} {{nam}} {name}',
    );
    expect(removeReferences('{{a}}', '.*')).toBe('{{a}}');
  });
});

describe('renderPrompt', () => {
  test('renders every type', () => {
    const definitions = [
      variable('short', 'text_short'),
      variable('long', 'text_long'),
      variable('number', 'number'),
      variable('date', 'date'),
      variable('time', 'time'),
      variable('datetime', 'datetime'),
      variable('one', 'single_choice', { options: OPTIONS }),
      variable('many', 'multi_choice', { options: OPTIONS }),
      variable('joined', 'multi_choice', { options: OPTIONS, multiChoiceSeparator: ' and ' }),
      variable('yes', 'bool'),
      variable('no', 'bool', { booleanTextWhenTrue: 'Be formal.', booleanTextWhenFalse: 'Be casual.' }),
      variable('silent', 'bool', { booleanTextWhenTrue: 'x', booleanTextWhenFalse: '' }),
    ];
    const values = {
      short: 'Ada',
      long: 'a\nb',
      number: 0.5,
      date: '2024-02-29',
      time: '09:30',
      datetime: '2024-02-29T09:30:00Z',
      one: 'Second',
      many: ['Third', 'First'],
      joined: ['Second', OPTIONS[1]?.publicId],
      yes: true,
      no: false,
      silent: false,
    };
    const prompt = definitions.map(({ name }) => `${name}={{${name}}}`).join('|');
    expect(render(prompt, definitions, values)).toBe(
      'short=Ada|long=a\nb|number=0.5|date=2024-02-29|time=09:30|datetime=2024-02-29T09:30:00Z|one=two|many=one, three|joined=one and two|yes=true|no=Be casual.|silent=',
    );
  });

  test('uses the default for an absent or null value, or else nothing', () => {
    const definitions = [
      variable('a', 'number', { defaultValue: 7 }),
      variable('b', 'text_short'),
      variable('c', 'bool', { defaultValue: false }),
    ];
    expect(render('[{{a}}][{{b}}][{{c}}]', definitions, { a: null })).toBe('[7][][false]');
    expect(render('[{{a}}][{{b}}][{{c}}]', definitions)).toBe('[7][][false]');
    expect(render('[{{a}}]', [variable('a', 'text_short', { defaultValue: 'x' })], { a: '' })).toBe('[]');
  });

  test('names every required variable that the prompt refers to and that has no value', () => {
    const definitions = [
      variable('a', 'text_short', { required: true }),
      variable('b', 'multi_choice', { required: true, options: OPTIONS }),
      variable('c', 'text_short', { required: true, defaultValue: 'set' }),
      variable('d', 'text_short', { required: true }),
      variable('orphaned', 'text_short', { required: true }),
    ];
    const error = faultOf(() => render('{{d}} {{a}} {{b}} {{c}}', definitions, { a: '', b: [], c: '', d: 'given' }));
    expect(error).toMatchObject({ code: 'MISSING_VARIABLE', status: 422, details: [] });
    expect(error.message).toContain('a value for a, b.');
    expect(render('{{c}} {{d}}', definitions, { d: 'given' })).toBe('set given');
  });

  test('false and 0 count as values of a required variable', () => {
    const definitions = [variable('a', 'bool', { required: true }), variable('b', 'number', { required: true })];
    expect(render('{{a}} {{b}}', definitions, { a: false, b: 0 })).toBe('false 0');
  });

  test('a default whose option was removed counts as none', () => {
    const definition = variable('a', 'single_choice', { options: OPTIONS, defaultValue: 'Gone', required: true });
    expect(faultOf(() => render('{{a}}', [definition])).code).toBe('MISSING_VARIABLE');
    expect(render('[{{a}}]', [{ ...definition, required: false }])).toBe('[]');
  });

  test('reports every value of the wrong type at once, referenced or not', () => {
    const definitions = [variable('a', 'number'), variable('b', 'bool'), variable('c', 'date')];
    const error = faultOf(() => render('', definitions, { a: '1', b: true, c: 'soon' }));
    expect(error.details).toEqual([
      { path: '/body/metadata/variables/a', message: 'must be a number', keyword: 'type' },
      { path: '/body/metadata/variables/c', message: 'must be a date, YYYY-MM-DD', keyword: 'type' },
    ]);
  });

  test.each([['text'], [[]], [7], [true]])('values that are not an object (%j) are refused with 400', (values) => {
    expect(faultOf(() => render('', [], values)).details).toMatchObject([{ path: '/body/metadata/variables' }]);
  });

  test('ignores values of unknown variables and leaves unknown references unchanged', () => {
    expect(render('{{a}} {{unknown}}', [variable('a', 'text_short')], { a: 'x', other: {} })).toBe('x {{unknown}}');
  });

  test('does not expand references in a value, nor patterns of String.replace', () => {
    const definitions = [variable('a', 'text_short'), variable('b', 'text_short')];
    expect(render('{{a}}', definitions, { a: "{{b}} $& $1 $' $$", b: 'secret' })).toBe("{{b}} $& $1 $' $$");
  });

  test('names of properties of Object.prototype are ordinary names', () => {
    const values = JSON.parse('{"__proto__": {"constructor": "polluted"}}');
    expect(render('{{constructor}} {{__proto__}} {{valueof}}', [], values)).toBe(
      '{{constructor}} {{__proto__}} {{valueof}}',
    );
    const defined = [variable('constructor', 'text_short'), variable('tostring', 'text_short')];
    expect(render('[{{constructor}}]', defined, values)).toBe('[]');
    expect(render('[{{constructor}}]', defined, { constructor: 'mine' })).toBe('[mine]');
  });

  test('refuses a rendered prompt of more than a million characters', () => {
    const error = faultOf(() =>
      render('{{a}}'.repeat(40_000), [variable('a', 'text_long')], { a: 'x'.repeat(10_000) }),
    );
    expect(error).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ keyword: 'maxLength' }] });
  });

  /** Quadratic matching would take minutes; the assertion is the test runner's limit of five seconds. */
  test.each([
    ['open braces', '{'.repeat(200_000)],
    ['braces and spaces', '{{ '.repeat(66_000)],
    ['one brace pair and spaces', `{{${' '.repeat(199_000)}`],
    ['unfinished names', `{{${'a'.repeat(50)} `.repeat(3_700)],
  ])('long hostile prompts are matched in linear time: %s', (_title, prompt) => {
    expect(render(prompt, [variable('a', 'text_short')], {})).toBe(prompt);
  });

  test('a full-size prompt with hundreds of variables', () => {
    const definitions = Array.from({ length: 500 }, (_, index) => variable(`v${index}`, 'number'));
    const values = Object.fromEntries(definitions.map(({ name }, index) => [name, index]));
    const prompt = definitions
      .map(({ name }) => `{{${name}}} `)
      .join('')
      .repeat(45)
      .slice(0, 200_000);
    const text = render(prompt, definitions, values);
    expect(text.startsWith('0 1 2 3 ')).toBe(true);
    expect(text).not.toContain('{{v1}}');
  });
});
