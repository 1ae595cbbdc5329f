/** One figure of the benchmark. */
export interface Figure {
  /** The measure that it belongs to: a value of `--only`. */
  measure: string;
  name: string;
  value: number;
  unit: string;
  /** Absent: the figure is information only. */
  target?: { limit: number; is: 'at least' | 'at most' };
  /** The absolute values and the rounds behind the figure. */
  note: string;
}

/** Whether the figure meets its target; undefined when it has none. */
export function passes({ value, target }: Figure): boolean | undefined {
  if (!target) return undefined;
  return target.is === 'at least' ? value >= target.limit : value <= target.limit;
}

/** A number with fewer decimals the larger it is. */
export function pretty(value: number): string {
  if (Number.isInteger(value)) return String(value);
  return value.toFixed(Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2);
}

/** The figures as a plain text table. */
export function figureTable(figures: readonly Figure[]): string {
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
