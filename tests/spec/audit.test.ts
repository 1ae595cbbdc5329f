import { judgeAudit } from '../../scripts/audit/judge.ts';

const none = { info: 0, low: 0, moderate: 0, high: 0, critical: 0, total: 0 };

function report(vulnerabilities: Record<string, { severity: string; range?: string }>, counts: object): string {
  return JSON.stringify({
    auditReportVersion: 2,
    vulnerabilities,
    metadata: { vulnerabilities: { ...none, ...counts } },
  });
}

test('a report without vulnerabilities is sound', () => {
  expect(judgeAudit(report({}, {}))).toEqual({ outcome: 'sound', lines: ['audit: no known vulnerabilities'] });
});

test('a high or critical one fails and is named, a lower one is counted', () => {
  const low = { severity: 'moderate', range: '<2' };
  const high = { severity: 'high', range: '<1.2.3' };
  expect(judgeAudit(report({ low }, { moderate: 1 }))).toEqual({ outcome: 'sound', lines: ['audit: 1 moderate'] });
  expect(judgeAudit(report({ low, high }, { moderate: 1, high: 1 }))).toEqual({
    outcome: 'vulnerable',
    lines: ['high: high <1.2.3', 'audit: 1 moderate, 1 high'],
  });
});

test.each([
  ['an endpoint that refuses', JSON.stringify({ message: '405 Method Not Allowed' }), '405 Method Not Allowed'],
  ['an error of npm', JSON.stringify({ error: { code: 'ENOLOCK', summary: 'no lockfile' } }), 'no lockfile'],
  ['a report that lacks the list', JSON.stringify({ metadata: { vulnerabilities: none } }), '{'],
  ['a page of HTML', '<html>', '<html>'],
  ['nothing', '', 'no output'],
])('%s is a check that did not run, and the reason is printed', (_, output, reason) => {
  const { outcome, lines } = judgeAudit(output);
  expect(outcome).toBe('skipped');
  expect(lines.join()).toContain('SKIPPED');
  expect(lines.join()).toContain(reason);
});
