import ts from 'typescript';

/** A small change of a source file that breaks a rule. */
export interface Mutant {
  kind: MutantKind;
  /** The line of the change, from 1. */
  line: number;
  /** The text that is replaced, and where it begins. */
  start: number;
  before: string;
  after: string;
}

/** `filter` takes a `where` out of a query, `guard` never throws, `code` throws another error, `step` leaves a statement out. */
export type MutantKind = 'condition' | 'comparison' | 'logic' | 'limit' | 'filter' | 'guard' | 'code' | 'step';

const COMPARISONS: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
};
const LOGIC: Readonly<Record<string, string>> = { '&&': '||', '||': '&&' };

/** All mutants of a source file, in the order of the text. */
export function mutantsOf(fileName: string, text: string): Mutant[] {
  const source = ts.createSourceFile(fileName, text, ts.ScriptTarget.Latest, true);
  const mutants: Mutant[] = [];
  const add = (kind: MutantKind, node: ts.Node, after: string) => {
    const start = node.getStart(source);
    const line = source.getLineAndCharacterOfPosition(start).line + 1;
    mutants.push({ kind, line, start, before: text.slice(start, node.end), after });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isIfStatement(node)) {
      if (throwsFault(node.thenStatement)) add('guard', node.expression, 'false');
      else add('condition', node.expression, `!(${node.expression.getText(source)})`);
    }
    if (ts.isConditionalExpression(node)) add('condition', node.condition, `!(${node.condition.getText(source)})`);
    if (ts.isBinaryExpression(node)) {
      const operator = node.operatorToken.getText(source);
      if (COMPARISONS[operator]) add('comparison', node.operatorToken, COMPARISONS[operator]);
      if (LOGIC[operator]) add('logic', node.operatorToken, LOGIC[operator]);
    }
    if (ts.isVariableDeclaration(node) && node.initializer && ts.isNumericLiteral(node.initializer))
      if (/^[A-Z0-9_]+$/.test(node.name.getText(source)))
        add('limit', node.initializer, `${Number(node.initializer.text) + 1}`);
    if (ts.isCallExpression(node)) addCall(node);
    if (ts.isExpressionStatement(node) && ts.isAwaitExpression(node.expression)) add('step', node, ';');
    // Types have no behaviour.
    if (!ts.isTypeNode(node)) ts.forEachChild(node, visit);
  };
  const addCall = (node: ts.CallExpression) => {
    const { expression, arguments: given } = node;
    const [first] = given;
    if (ts.isPropertyAccessExpression(expression) && expression.name.text === 'where')
      add('filter', node, expression.expression.getText(source));
    if (ts.isIdentifier(expression) && expression.text === 'fault' && first && ts.isStringLiteral(first))
      add('code', first, first.text === 'INTERNAL_ERROR' ? `'UNAVAILABLE'` : `'INTERNAL_ERROR'`);
  };
  visit(source);
  return mutants;
}

function throwsFault(node: ts.Statement): boolean {
  if (ts.isBlock(node)) return node.statements.length === 1 && node.statements.every(throwsFault);
  return ts.isThrowStatement(node);
}

/** The text of the file with the mutant in it. */
export function applyMutant(text: string, { start, before, after }: Mutant): string {
  return text.slice(0, start) + after + text.slice(start + before.length);
}

/** At most `size` of the items, chosen at random. The same seed chooses the same items. */
export function sample<T>(items: readonly T[], size: number, seed: number): T[] {
  const rest = [...items];
  const chosen: T[] = [];
  let state = seed;
  while (chosen.length < size && rest.length > 0) {
    // A linear congruential generator modulo 2 ** 32: its low bits repeat soon, so the high ones choose.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    chosen.push(...rest.splice(Math.floor((state / 2 ** 32) * rest.length), 1));
  }
  return chosen;
}
