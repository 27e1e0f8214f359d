"""Routines whose tasks a sequential program inserts, beside the graphs that do the same."""
from harness.figures import Contestant, Figure, Point

# Threads, ranks and the least share of the graph's speed.
WHERE = (("2 thr", 1, 2, 0.97), ("2 ranks", 2, 1, 0.95))


def figure(env, routine, tiles):
    """`routine` makes a contestant from a name, arguments and tiles, the best of which is taken."""
    orders = env.scaled((2000, 4000), (2000, 4000), (100,))
    points = [Point(n, series, n=n, ranks=ranks, threads=threads, goals=[("ratio", goal, "graph")])
              for series, ranks, threads, goal in WHERE for n in orders]
    return Figure("potrf_inserted", "Cholesky factorisation that is inserted, double precision", "GFlop/s", points,
                  [Contestant("inserted", routine(env, "potrf_inserted", ("--insert",), tiles).ours),
                   Contestant("graph", routine(env, "potrf_graph", (), tiles).ours)],
                  better="higher", plot="lines", xlabel="order", logx=True, logy=False)
