import { adminQuery } from './database.ts';

/**
 * A digest of every table of the database but `api_keys`, whose keys note when they were used. Equal before and after =
 * nothing was written.
 */
export async function tableContents(database: string): Promise<Record<string, string>> {
  const rows = await adminQuery<{ name: string; digest: string }>(
    `select relname as name, (xpath('/row/c/text()', query_to_xml(format(
       'select count(*) || '' '' || coalesce(md5(string_agg(t::text, chr(10) order by t::text)), '''') as c from %I t', relname),
       false, true, '')))[1]::text as digest
     from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace and relname <> 'api_keys'`,
    database,
  );
  return Object.fromEntries(rows.map(({ name, digest }) => [name, digest]));
}
