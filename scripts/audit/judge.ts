/** What a report of `npm audit --json` says, and the lines to print. */
export interface AuditJudgement {
  outcome: 'sound' | 'vulnerable' | 'skipped';
  lines: string[];
}

interface AuditReport {
  message?: string;
  error?: { summary?: string; detail?: string };
  metadata?: { vulnerabilities: Record<string, number>; dependencies?: { prod?: number } };
  vulnerabilities?: Record<string, { severity: string; range?: string }>;
}

const REFUSED = ['high', 'critical'];

/** Judges the output of `npm audit --json`. Anything but a complete report is `skipped`, never `sound`. */
export function judgeAudit(output: string): AuditJudgement {
  const report = parse(output);
  const counts = report?.metadata?.vulnerabilities;
  if (!counts || typeof report?.vulnerabilities !== 'object') {
    const reason = report?.message ?? report?.error?.summary ?? (output.trim().slice(0, 200) || 'no output');
    return { outcome: 'skipped', lines: [`SKIPPED: the registry gave no audit report (${reason})`] };
  }
  const refused = Object.entries(report.vulnerabilities).filter(([, { severity }]) => REFUSED.includes(severity));
  const lines = refused.map(([name, { severity, range }]) => `${severity}: ${name} ${range ?? ''}`.trim());
  const all = Object.entries(counts).filter(([kind, count]) => kind !== 'total' && count > 0);
  const summary = all.map(([kind, count]) => `${count} ${kind}`).join(', ') || 'no known vulnerabilities';
  return { outcome: refused.length > 0 ? 'vulnerable' : 'sound', lines: [...lines, `audit: ${summary}`] };
}

function parse(output: string): AuditReport | undefined {
  try {
    return JSON.parse(output);
  } catch {
    return undefined;
  }
}
