import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Document } from '../../spec/rules/types.ts';
import { redocly } from '../bundle.ts';
import { apiModule } from '../codegen/api.ts';
import { surveyHandlers } from '../codegen/handlers.ts';
import { apiPrefix, operationRows, operationsModule } from '../codegen/operations.ts';
import { runTests } from '../mutate/copy.ts';
import { reachOfSchemas } from '../specDiff/reach.ts';

const root = join(import.meta.dirname, '../..');

/** The tests whose expectations are computed from the document, or which compare it with code and tables. */
const COMPUTED_TESTS = [
  'tests/spec/contract.test.ts',
  'tests/spec/enums.test.ts',
  'tests/spec/errorExamples.test.ts',
  'tests/spec/errors.test.ts',
  'tests/spec/namedSchemas.test.ts',
  'tests/spec/notImplemented.test.ts',
  'tests/spec/patchNulls.test.ts',
  'tests/spec/streamEvents.test.ts',
  'tests/spec/webhooks.test.ts',
  'tests/http/badInput.test.ts',
  'tests/http/badAddress.test.ts',
  'tests/http/common.test.ts',
  'tests/http/errorExamples.test.ts',
  'tests/http/patchNulls.test.ts',
  'tests/http/uploads.test.ts',
];
/** So many tests of operations that a mutant reaches are run. */
const MAX_OPERATION_TESTS = 2;
const MAX_TESTS_MS = 300_000;

/** What notices a mutant, beside the comparison of documents. Each check answers whether it does. */
export class DocumentChecks {
  private readonly document: Document;
  private readonly copy: string;
  private readonly compiler: string;
  private readonly operationsText: string;
  private readonly notImplemented: string[];
  private lintBaseline: Set<string> | undefined;

  /** `copy` is a folder with the repository, whose generated/ is overwritten. `compiler` is what `npm run types` runs. */
  constructor(document: Document, copy: string, compiler: string) {
    this.document = document;
    this.copy = copy;
    this.compiler = compiler;
    this.operationsText = operationsModule(apiPrefix(document), operationRows(document));
    this.notImplemented = JSON.parse(readFileSync(join(root, 'tests/spec/burn-down.json'), 'utf8')).notImplemented;
  }

  /** Whether the table of operations is another, cannot be written, or no longer fits the handlers. */
  tables(mutated: Document): boolean {
    try {
      const rows = operationRows(mutated);
      const isSame = operationsModule(apiPrefix(mutated), rows) === this.operationsText;
      return !isSame || surveyHandlers(root, rows, this.notImplemented).faults.length > 0;
    } catch {
      return true;
    }
  }

  /** Whether the rules of `npm run spec:lint` find something in the bundle that they do not find without the mutant. */
  async lint(mutated: Document): Promise<boolean> {
    this.lintBaseline ??= await this.problemsOf(this.document);
    const problems = await this.problemsOf(mutated);
    return [...problems].some((problem) => !this.lintBaseline?.has(problem));
  }

  private async problemsOf(document: Document): Promise<Set<string>> {
    const file = join(this.copy, 'mutated.json');
    writeFileSync(file, JSON.stringify(document));
    const args = [
      'lint',
      file,
      '--config',
      join(root, 'spec/redocly.yaml'),
      '--format',
      'json',
      '--max-problems',
      '100000',
    ];
    const { stdout } = await redocly(args).catch((error) => error as { stdout: string });
    const { problems } = JSON.parse(stdout) as { problems: { ruleId: string; message: string }[] };
    return new Set(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`));
  }

  /** Whether the service or its tests no longer compile with the types of the document. */
  async types(mutated: Document): Promise<boolean> {
    await this.generate(mutated);
    const run = promisify(execFile)(process.execPath, [this.compiler, '--noEmit', '-p', this.copy], { cwd: this.copy });
    return run.then(
      () => false,
      () => true,
    );
  }

  /** Whether a computed test fails, or one of the operations that the mutant reaches: these check each response that they get. */
  async tests(mutated: Document, place: string): Promise<boolean> {
    await this.generate(mutated);
    const tests = [...COMPUTED_TESTS, ...this.operationTests(place)];
    return (await runTests(this.copy, tests, MAX_TESTS_MS)) !== 'passed';
  }

  private operationTests(place: string): string[] {
    const name = /^schemas\/([^/ ]+)/.exec(place)?.[1];
    const reach = name ? reachOfSchemas(this.document).get(name) : undefined;
    const ids = reach ? [...reach.requests, ...reach.responses] : [place.split(' ')[0] ?? ''];
    const rows = operationRows(this.document).filter(({ operationId }) => ids.includes(operationId));
    const files = rows.map(({ folder, operationId }) => `tests/http/${folder}/${operationId}.test.ts`);
    return files.filter((file) => existsSync(join(this.copy, file))).slice(0, MAX_OPERATION_TESTS);
  }

  /** Writes what `npm run codegen` writes from the document. */
  private async generate(document: Document): Promise<void> {
    const openapi = `${JSON.stringify(document, null, 2)}\n`;
    const put = (name: string, text: string) => writeFileSync(join(this.copy, 'generated', name), text);
    put('openapi.json', openapi);
    put('api.ts', await apiModule(openapi));
    put('operations.ts', operationsModule(apiPrefix(document), operationRows(document)));
  }
}
