/** Where a page begins and how many rows it holds. */
export function windowOf(query: { page?: number; limit?: number }): { page: number; limit: number; offset: number } {
  const { page = 1, limit = 20 } = query;
  return { page, limit, offset: (page - 1) * limit };
}

/** The envelope of every paginated list. */
export function pageOf<Item>(items: Item[], total: number, { page, limit }: { page: number; limit: number }) {
  return { items, page, limit, total, totalPages: Math.ceil(total / limit) };
}
