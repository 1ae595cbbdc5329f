interface Server {
  variables?: { origin?: { default: string } };
}

/**
 * The document as this service serves it: the variable `origin` of its server has the service's public address as its default. Where that
 * is not known (''), the document is as it is.
 */
export function servedDocument(document: object, publicUrl: string): object {
  const { servers } = document as { servers?: Server[] };
  if (!servers || publicUrl === '') return document;
  const here = ({ variables, ...server }: Server) => ({
    ...server,
    variables: { ...variables, origin: { ...variables?.origin, default: publicUrl } },
  });
  return { ...document, servers: servers.map(here) };
}
