import type { TestApp } from '../../support/http/app.ts';

/** The names of all plans, newest first. */
export async function planNames(app: TestApp): Promise<string[]> {
  const { body } = await app.api('get', '/billing/plans?limit=100').expect(200);
  return body.items.map(({ name }: { name: string }) => name);
}

/** How many packages, agents in them and links in them are stored. */
export async function rowsOfContent(app: TestApp): Promise<number[]> {
  const counts = [];
  for (const table of ['hub_packages', 'hub_package_agents', 'hub_package_links'] as const) {
    const { count } = await app.workspace.db
      .selectFrom(table)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    counts.push(Number(count));
  }
  return counts;
}

/** The ids of the agents in a package, in their order. */
export async function agentsOfPackage(app: TestApp, packageId: string): Promise<string[]> {
  const rows = await app.workspace.db
    .selectFrom('hub_package_agents')
    .select('agent_id')
    .where('package_id', '=', packageId)
    .orderBy('place')
    .execute();
  return rows.map(({ agent_id }) => agent_id);
}
