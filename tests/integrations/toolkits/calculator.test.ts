import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { createCalculator } from '../../../integrations/toolkits/builtin/calculator.ts';
import { ToolRefusal } from '../../../integrations/toolkits/builtin/tool.ts';

const script = new URL('../../../integrations/toolkits/builtin/calculatorWorker.ts', import.meta.url);
const calculator = createCalculator({ timeLimitMs: 2000, script });
const calculate = (expression: string) => calculator(expression, { workspaceId: 'a' });

describe('results', () => {
  test.each([
    ['0.1 + 0.2', '0.3'],
    ['2 + 3 * 4 ^ 2 / 8', '8'],
    ['(1200 * 1.19 - 50) / 12', '114.833333333333333333333333333'],
    ['123456789 * 987654321', '121932631112635269'],
    ['2 ^ 100', '1267650600228229401496703205376'],
    ['1 / 3 * 3', '1'],
    ['-2 ^ 2', '-4'],
    ['200 + 5%', '210'],
    ['17 % 5', '2'],
    ['17 mod 5', '2'],
    ['5!', '120'],
    ['combinations(5, 2)', '10'],
    ['sqrt(16) + cbrt(27)', '7'],
    ['log10(1000) + log(8, 2)', '6'],
    ['round(2.5) + floor(-1.5)', '1'],
    ['mean(1, 2, 3, 4) + max(5, 7) - min(5, 7)', '4.5'],
    ['gcd(12, 18) * lcm(4, 6)', '72'],
    ['sin(0) + cos(0)', '1'],
    ['3 > 2 and 2 > 1', 'true'],
    ['1 < 2 ? 10 : 20', '10'],
    ['1e30', '1000000000000000000000000000000'],
    ['1e-9', '0.000000001'],
    ['1e300', '1e+300'],
  ])('%s is %s', async (expression, result) => {
    expect(await calculate(expression)).toBe(result);
  });

  test('come in the order in which they were asked for', async () => {
    expect(await Promise.all(['1 + 1', '2 + 2', '3 + 3'].map(calculate))).toEqual(['2', '4', '6']);
  });
});

test('the first calculation of a thread costs little of what its loading cost, so that a busy machine does not stop it', async () => {
  const worker = new Worker(script, { execArgv: [], env: {} });
  await once(worker, 'message');
  const loading = await worker.cpuUsage();
  worker.postMessage('2 + 3');
  expect(await once(worker, 'message')).toEqual([{ result: '5' }]);
  const calculating = await worker.cpuUsage(loading);
  await worker.terminate();
  expect(calculating.user + calculating.system).toBeLessThan((loading.user + loading.system) / 10);
});

describe('refused', () => {
  test.each([
    ['1 / 0', /no number|no end|not a number/],
    ['sqrt(-1)', /not a real number/],
    ['2 +', /Unexpected end/],
    ['x + 1', /"x" is not known/],
    ['a = 3', /Only one expression/],
    ['f(x) = x^2', /Only one expression/],
    ['1; 2', /Only one expression/],
    ['[1, 2, 3]', /Only one expression/],
    ['1:1000000000', /Only one expression/],
    ['{a: 1}', /Only one expression/],
    ['"text"', /Texts/],
    ['3 kg to g', /operator to|is not known/],
    ['5 kg', /"kg" is not known/],
    ['import({})', /no function "import"/],
    ['createUnit("x")', /no function "createUnit"/],
    ['evaluate("1")', /no function "evaluate"/],
    ['parse("1")', /no function "parse"/],
    ['simplify("1")', /no function "simplify"/],
    ['derivative("x", "x")', /no function "derivative"/],
    ['zeros(100000, 100000)', /no function "zeros"/],
    ['range(0, 1e9)', /no function "range"/],
    ['bignumber(1)', /no function "bignumber"/],
    ['toString()', /no function "toString"/],
    ['constructor(1)', /no function "constructor"/],
    ['sqrt.constructor("return process")', /no function|Only one expression/],
    ['sqrt["constructor"]', /Only one expression/],
    ['pi.constructor', /Only one expression/],
    ['e^i', /"i" is not known/],
    ['process', /"process" is not known/],
    ['max()', /./],
    ['('.repeat(500), /./],
  ])('%s', async (expression, reason) => {
    const error = await calculate(expression).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ToolRefusal);
    expect((error as Error).message).toMatch(reason);
    expect(await calculate('1 + 1')).toBe('2');
  });
});

describe('a calculation without end', () => {
  test.each(['factorial(1e9)', 'combinations(1e12, 5e11)', '(10 ^ 9)!'])(
    '%s is stopped without blocking this process, and the next expression is calculated',
    async (expression) => {
      await calculate('1');
      let beats = 0;
      const heart = setInterval(() => {
        beats += 1;
      }, 10).unref();
      await expect(calculate(expression)).rejects.toThrow('takes longer than 2 s');
      clearInterval(heart);
      // One, if this process waited for it.
      expect(beats).toBeGreaterThan(10);
      expect(await calculate('6 * 7')).toBe('42');
    },
  );

  test('one that takes all memory ends with its thread, not with the process', async () => {
    const greedy = new URL('./greedyWorker.ts', import.meta.url);
    const doomed = createCalculator({ timeLimitMs: 30_000, script: greedy });
    await expect(doomed('anything', { workspaceId: 'a' })).rejects.toThrow('takes too much memory');
  });
});

describe('a workspace that calculates much', () => {
  const endless = 'factorial(1e9)';

  test('waits for itself: the next one waits for one of its calculations, and too many are refused', async () => {
    // A short calculation may take a second here: one that does not end in its first attempt loses its turn.
    const patient = createCalculator({ timeLimitMs: 2_000, firstMs: 1_500, script });
    await patient('1', { workspaceId: 'a' });
    const ended: string[] = [];
    const much = Array.from({ length: 20 }, (_, place) =>
      patient(place === 0 ? endless : '1', { workspaceId: 'a' }).then(
        () => ended.push('a'),
        (error: ToolRefusal) => ended.push(error.message),
      ),
    );
    await patient('1', { workspaceId: 'b' }).then(() => ended.push('b'));
    expect(ended.filter((each) => each === 'a').length).toBeLessThan(2);
    await Promise.all(much);
    const busy = 'The calculator is busy: this workspace has too many runs waiting. Try again in a moment.';
    expect(ended.filter((each) => each === busy)).toHaveLength(3);
    expect(ended.filter((each) => each === 'a')).toHaveLength(16);
  });

  test('frees the slot of a calculation whose call has ended', async () => {
    const call = new AbortController();
    const running = calculator(endless, { workspaceId: 'a', signal: call.signal });
    call.abort(new Error('stopped'));
    await expect(running).rejects.toThrow('stopped');
    expect(await calculate('6 * 7')).toBe('42');
  });
});

test('brackets a thousand deep neither end the thread nor hang it', async () => {
  const deep = `${'('.repeat(499)}1${')'.repeat(499)}`;
  const answer = await calculate(deep).catch((error: unknown) => error);
  expect(answer === '1' || answer instanceof ToolRefusal).toBe(true);
});
