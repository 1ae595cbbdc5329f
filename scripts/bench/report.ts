/** One figure of the benchmark. */
export interface Figure {
  /** The measure that it belongs to: what `--only` takes. */
  measure: string;
  name: string;
  value: number;
  unit: string;
  /** Absent: for information. */
  target?: { limit: number; is: 'at least' | 'at most' };
  /** What stands behind the figure: the absolute values, the rounds. */
  note: string;
}

/** Whether the figure meets its target; undefined when it has none. */
export function passes({ value, target }: Figure): boolean | undefined {
  if (!target) return undefined;
  return target.is === 'at least' ? value >= target.limit : value <= target.limit;
}

/** A number with as many decimals as its size deserves. */
export function pretty(value: number): string {
  if (Number.isInteger(value)) return String(value);
  return value.toFixed(Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2);
}

/** The figures as a table of plain text. */
export function table(figures: readonly Figure[]): string {
  const rows = [
    ['figure', 'value', 'target', '', 'behind it'],
    ...figures.map((figure) => {
      const { target, unit } = figure;
      const verdict = passes(figure);
      return [
        figure.name,
        `${pretty(figure.value)} ${unit}`.trim(),
        target ? `${target.is === 'at least' ? '>=' : '<='} ${pretty(target.limit)} ${unit}`.trim() : '',
        verdict === undefined ? '' : verdict ? 'pass' : 'FAIL',
        figure.note,
      ];
    }),
  ];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
