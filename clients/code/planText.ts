import { stringify } from 'yaml';
import type { Difference } from './compare/differences.ts';
import { type LineDifference, lineDifferences } from './compare/lines.ts';
import type { JsonValue } from './json.ts';
import { isPending, type Plan, type Step } from './plan.ts';

/** How parts of a plan look on a terminal. */
export interface Ink {
  bold(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  bad(text: string): string;
  waiting(text: string): string;
}

const SIGNS: Record<Step['action'], string> = {
  create: '+',
  change: '~',
  replace: '±',
  publish: '~',
  delete: '-',
  blocked: '!',
};

/** A value longer than this is cut: the whole is in the file, and in `--json`. */
const MAX_VALUE = 120;

/** A plan as people read it, without a line end at its end. */
export function planText(plan: Plan, ink: Ink): string {
  const lines = plan.steps.flatMap((step) => [...stepLines(step, ink), '']);
  const only = plan.left.map(({ kind, name, field }) => `  ${kind} ${shown(name)}${field ? `: ${field}` : ''}`);
  if (only.length > 0)
    lines.push(
      'On the service only, and left there. --prune deletes it:',
      ...only.slice(0, 50),
      ...more(only.length - 50),
      '',
    );
  lines.push(summaryOf(plan));
  return lines.join('\n');
}

/** One sentence: what would be done. */
export function summaryOf(plan: Plan): string {
  const counts = countsOf(plan);
  const parts = [
    [counts.create, 'to create'],
    [counts.change, 'to change'],
    [counts.publish, 'to publish'],
    [counts.delete, 'to delete'],
    [counts.blocked, 'that cannot be changed'],
  ]
    .filter(([count]) => count !== 0)
    .map(([count, what]) => `${count} ${what}`);
  const others = plan.foreign > 0 ? ` ${plan.foreign} more on the service are in no file.` : '';
  if (!isPending(plan) && counts.blocked === 0) return `Nothing to do: the workspace is as the files say.${others}`;
  return `Plan ${plan.digest}: ${parts.join(', ')}.${others}`;
}

/** How many things a plan creates, changes, publishes and deletes. */
function countsOf({ steps }: Plan): {
  create: number;
  change: number;
  publish: number;
  delete: number;
  blocked: number;
} {
  const count = (...actions: string[]) => steps.filter(({ action }) => actions.includes(action)).length;
  return {
    create: count('create'),
    change: count('change', 'replace'),
    publish: steps.filter(({ publish }) => publish).length,
    delete: count('delete'),
    blocked: count('blocked'),
  };
}

function more(count: number): string[] {
  return count > 0 ? [`  … and ${count} more`] : [];
}

function stepLines(step: Step, ink: Ink): string[] {
  const { action, kind, name, problem, differences, publish, changedOnService } = step;
  const colour = { create: ink.good, delete: ink.bad, blocked: ink.bad }[action as string] ?? ink.waiting;
  const notes = [
    ...(action === 'replace' ? ['its content is replaced by a new one'] : []),
    ...(problem === undefined ? [] : [problem]),
    ...(changedOnService ? ['changed on the service since the last apply or pull'] : []),
  ];
  const head = `${colour(`${SIGNS[action]} ${kind}`)} ${ink.bold(shown(name))}${notes.length > 0 ? ink.dim(`  (${notes.join('; ')})`) : ''}`;
  return [
    head,
    ...differences.flatMap((difference) => differenceLines(difference, ink)),
    ...(publish ? [`    ${ink.waiting('then published')}`] : []),
  ];
}

function differenceLines({ field, before, after, isContent }: Difference, ink: Ink): string[] {
  const at = `    ${field}:`;
  if (isContent) return [`    ${field}: ${contentText(before, after, ink)}`];
  if (isText(before) || isText(after)) {
    const lines = textDifferences(before, after);
    return [
      at,
      ...lines.map((line) => {
        if (line.sign === 'gap') return ink.dim(`        … ${line.count} equal ${line.count === 1 ? 'line' : 'lines'}`);
        if (line.sign === ' ') return `        ${line.text}`;
        return (line.sign === '+' ? ink.good : ink.bad)(`      ${line.sign} ${line.text}`);
      }),
    ];
  }
  if (before === undefined) return [`${at} ${ink.good(inLine(after))}`];
  if (after === undefined) return [`${at} ${ink.bad(`${inLine(before)} → removed`)}`];
  return [`${at} ${ink.bad(inLine(before))} → ${ink.good(inLine(after))}`];
}

/** An absent text has no lines, not even an empty one. */
function textDifferences(before: JsonValue | undefined, after: JsonValue | undefined): LineDifference[] {
  const all = (sign: '+' | '-', text: JsonValue | undefined) =>
    `${text ?? ''}`.split('\n').map((line) => ({ sign, text: line }));
  if (before === undefined) return all('+', after);
  return after === undefined ? all('-', before) : lineDifferences(`${before}`, `${after}`);
}

function contentText(before: JsonValue | undefined, after: JsonValue | undefined, ink: Ink): string {
  if (before === undefined) return ink.good('added');
  return after === undefined ? ink.bad('removed') : ink.waiting('other content');
}

function isText(value: JsonValue | undefined): boolean {
  return typeof value === 'string' && value.includes('\n');
}

function inLine(value: JsonValue | undefined): string {
  const text = stringify(value ?? null, { collectionStyle: 'flow', lineWidth: 0 })
    .trim()
    .replaceAll(/\s*\n\s*/g, ' ');
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text;
}

function shown(name: string): string {
  return JSON.stringify(name);
}
