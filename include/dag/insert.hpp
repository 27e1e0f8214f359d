/**
 * @file insert.hpp
 * dag/insert.h for C++17 and C++20, with types. A kernel is made of its body: what the body takes says how many tiles
 * a task has, of what items, and what it does with each. A call with other arguments, another number of tiles or
 * tiles of other items does not compile; it notes its file and line, and costs what dag_insert() does.
 *
 *     struct step { int64_t k; };
 *     int solve(const step &at, dag::in<double> l, dag::inout<double> b);
 *     static constexpr dag::kernel<solve, 1> Solve("solve");    // runs where tile 1, b, lives
 *
 *     dag::collection<double> A(matrix->super);
 *     dag::begin(ctx, "program", {A}, {Solve}, &pool);
 *     for (...)
 *         Solve(pool, {k}, A(k, k), A(i, k));
 *     dag_insert_end(pool);
 *     dag_wait(pool);
 *
 * What dag/insert.h says of calls holds here. A body may take a `dag_task *` first, for dag_task_fail() and the like.
 * An exception that leaves it fails the pool.
 */
#ifndef DAG_INSERT_HPP
#define DAG_INSERT_HPP

#include <dag/insert.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>
#if __cplusplus >= 202002L
#include <source_location>
#endif

namespace dag {

/* ---- tiles in a body ------------------------------------------------------------------------- */

/** A tile in a body, column-major. */
template <class T> class view {
    dag_tile_view raw_;

public:
    static_assert(std::is_trivially_copyable_v<T>, "items of tiles are copied as bytes");
    using item = std::remove_const_t<T>;
    constexpr explicit view(const dag_tile_view &raw) : raw_(raw) {}
    T *data() const { return static_cast<T *>(raw_.ptr); }
    int64_t ld() const { return raw_.ld; }
    int64_t rows() const { return raw_.m; }
    int64_t columns() const { return raw_.n; }
    T &operator()(int64_t i, int64_t j = 0) const { return data()[i + j * raw_.ld]; }
};

namespace detail {
constexpr dag_tile_access part_of(dag_tile_access access, dag_region region)
{
    return region == DAG_REGION_FULL ? access : DAG_TILE_PART(access, region);
}
} // namespace detail

/** A tile that is read: all of it, or a region, outside of which the view means nothing. */
template <class T, dag_region Region = DAG_REGION_FULL> struct in : view<const T> {
    static constexpr dag_tile_access access = detail::part_of(DAG_TILE_READ, Region);
    using view<const T>::view;
};

/** One that is written, all of it, or all of a region; what was there is not read. */
template <class T, dag_region Region = DAG_REGION_FULL> struct out : view<T> {
    static constexpr dag_tile_access access = detail::part_of(DAG_TILE_WRITE, Region);
    using view<T>::view;
};

/** One that is read and written. */
template <class T, dag_region Region = DAG_REGION_FULL> struct inout : view<T> {
    static constexpr dag_tile_access access = detail::part_of(DAG_TILE_RW, Region);
    using view<T>::view;
};

/** A contribution to one, all of it, which the kernel's function brings in. */
template <class T> struct part : view<T> {
    static constexpr dag_tile_access access = DAG_TILE_REDUCE;
    using view<T>::view;
};

/** As many tiles as the call likes, the last that a body takes: `list<in<double>>`. */
template <class V> class list {
    const dag_tile_view *first_;
    int size_;

public:
    static constexpr dag_tile_access access = V::access;
    using item = typename V::item;
    list(const dag_tile_view *first, int size) : first_(first), size_(size) {}
    int size() const { return size_; }
    V operator[](int k) const { return V(first_[k]); }
};

/* ---- tiles in a call --------------------------------------------------------------------------- */

/** A collection whose items are T: dag::begin() holds their size against it. */
template <class T> class collection;

/** A tile of it. */
template <class T> struct tile {
    dag_tile raw;
    constexpr tile(const collection<T> &c, int64_t i, int64_t j = 0) : raw{c.raw, i, j} {}
};

template <class T> class collection {
public:
    dag_collection *raw;
    constexpr explicit collection(dag_collection &c) : raw(&c) {}
    constexpr tile<T> operator()(int64_t i, int64_t j = 0) const { return {*this, i, j}; }
};

/** Those of a list; they are looked at by the call alone. */
template <class T> class tiles {
    const tile<T> *first_;
    std::size_t size_;

public:
    tiles(std::initializer_list<tile<T>> all) : tiles(all.begin(), all.size()) {}
    tiles(const std::vector<tile<T>> &all) : tiles(all.data(), all.size()) {}
    tiles(const tile<T> *first, std::size_t size) : first_(first), size_(size) {}
    std::size_t size() const { return size_; }
    const dag_tile &operator[](std::size_t k) const { return first_[k].raw; }
};

/** The line of a call. */
#if defined __cpp_lib_source_location
using site = std::source_location;
#else
class site {
    const char *file_ = "";
    unsigned line_ = 0;

public:
    static constexpr site current(const char *file = __builtin_FILE(), unsigned line = __builtin_LINE())
    {
        site here;
        here.file_ = file;
        here.line_ = line;
        return here;
    }
    constexpr const char *file_name() const { return file_; }
    constexpr unsigned line() const { return line_; }
};
#endif

/* ---- kernels --------------------------------------------------------------------------------- */

/** Instead of a main tile: each call says by on() where its task runs. */
inline constexpr int anywhere = DAG_INSERT_WHERE;

namespace detail {

template <class V> struct is_list : std::false_type {};
template <class V> struct is_list<list<V>> : std::true_type {};

/* What a call gives for it. */
template <class V> struct named { using type = tile<typename V::item>; };
template <class V> struct named<list<V>> { using type = tiles<typename V::item>; };

template <class T> void append(dag_tile *to, std::size_t &n, const tile<T> &t) { to[n++] = t.raw; }
/* A number that is too large is refused before anybody looks at them. */
template <class T> void append(dag_tile *to, std::size_t &n, const tiles<T> &all)
{
    for (std::size_t k = 0; k < all.size(); k++, n++) {
        if (n < DAG_INSERT_MOST)
            to[n] = all[k];
    }
}

template <class V> V seen(const dag_tile_view *all, int k, int count)
{
    if constexpr (is_list<V>::value)
        return V(all + k, count - k);
    else
        return V(all[k]);
}

/* What the types of a body say. */
template <bool Task, class Args, class... V> struct signature {
    static constexpr int lists = (0 + ... + int(is_list<V>::value));
    static constexpr int ntiles = int(sizeof...(V)) - lists;
    static constexpr bool writes = (false || ... || ((V::access & DAG_TILE_WRITE) != 0));
    static constexpr bool contributes = (false || ... || (V::access == DAG_TILE_REDUCE));

    static constexpr bool list_is_last()
    {
        const bool all[] = {is_list<V>::value..., false};
        return lists == 0 || (lists == 1 && all[sizeof...(V) - 1]);
    }
    static_assert(list_is_last(), "one list of tiles, behind the others");
    static_assert(ntiles <= DAG_INSERT_TILES, "too many tiles: give the last ones as a list");
    static_assert(std::is_trivially_copyable_v<Args>, "arguments are copied as bytes");
    static_assert(sizeof(Args) <= DAG_INSERT_ARGS, "too many bytes of arguments");
    static_assert(alignof(Args) <= alignof(std::uint64_t), "arguments lie at multiples of 8 bytes");
};
template <class Args, class... V> signature<true, Args, V...> signature_of(int (*)(dag_task *, const Args &, V...));
template <class Args, class... V> signature<false, Args, V...> signature_of(int (*)(const Args &, V...));
template <class T> T item_of(void (*)(T *, const T *, std::size_t));

/* C calls it: no exception leaves it. */
template <class F> int guarded(dag_task *task, F &&f) noexcept
{
#if defined __cpp_exceptions
    try {
        return f();
    } catch (const std::exception &e) {
        dag_task_fail(task, "%s", e.what());
    } catch (...) {
        dag_task_fail(task, "an exception that is none of the standard library's");
    }
    return 1;
#else
    (void)task;
    return f();
#endif
}

} // namespace detail

/**
 * A kind of task; it lives as long as the pools that it is given to, at its place.
 * @tparam Body   int ([dag_task *,] const ARGS &, TILES...): 0, or nonzero: the pool fails.
 * @tparam Main   number of the tile on whose rank the task runs, or `anywhere`, if it writes none.
 * @tparam Reduce void (T *into, const T *from, std::size_t items), where a tile is a `part`.
 */
template <auto Body, int Main = 0, auto Reduce = nullptr, class Signature = decltype(detail::signature_of(Body))>
class kernel;

template <auto Body, int Main, auto Reduce, bool Task, class Args, class... V>
class kernel<Body, Main, Reduce, detail::signature<Task, Args, V...>> {
    using types = detail::signature<Task, Args, V...>;
    static constexpr bool reduces = !std::is_same_v<decltype(Reduce), std::nullptr_t>;
    static_assert(Main == anywhere ? !types::writes
                                   : Main >= 0 && (Main < types::ntiles || (Main == 0 && types::lists)),
                  "no such main tile; `anywhere` is for kernels that write none");
    static_assert(types::contributes == reduces, "a `part` needs a function that brings it in, and only that does");

    dag_insert_kernel raw_;

    template <auto F, std::size_t... K, class... More>
    static int call(dag_task *task, const void *args, const dag_tile_view *all, int count, std::index_sequence<K...>,
                    More... more)
    {
        const Args &a = *static_cast<const Args *>(args);
        (void)all, (void)count;
        if constexpr (Task)
            return F(task, a, detail::seen<V>(all, int(K), count)..., more...);
        else
            return F(a, detail::seen<V>(all, int(K), count)..., more...);
    }

    static int run(dag_task *task, const void *args, const dag_tile_view *all)
    {
        return detail::guarded(task, [=] {
            return call<Body>(task, args, all, types::lists ? dag_insert_count(task) : 0,
                              std::index_sequence_for<V...>());
        });
    }

    template <auto F>
    static int enqueue(dag_task *task, const void *args, const dag_tile_view *all, dag_device_queue *queue)
    {
        return detail::guarded(task, [=] {
            return call<F>(task, args, all, types::lists ? dag_insert_count(task) : 0,
                           std::index_sequence_for<V...>(), queue);
        });
    }

    template <auto F> static int64_t ask(const void *args) { return F(*static_cast<const Args *>(args)); }

    static void combine(void *into, const void *from, std::size_t bytes)
    {
        if constexpr (reduces) {
            using item = decltype(detail::item_of(Reduce));
            Reduce(static_cast<item *>(into), static_cast<const item *>(from), bytes / sizeof(item));
        }
    }

    static constexpr void describe(dag_insert_kernel &k, int &n, dag_tile_access access, bool is_list)
    {
        if (is_list)
            k.rest = access;
        else
            k.access[n++] = access;
    }

    dag_status enter(dag_taskpool *pool, int rank, const Args &args, const typename detail::named<V>::type &...all,
                     site where) const
    {
        dag_tile named[types::lists ? int(DAG_INSERT_MOST) : types::ntiles + 1];
        std::size_t n = 0;
        (detail::append(named, n, all), ...);
        if constexpr (Main == anywhere)
            return dag_insert_on(pool, rank, &raw_, &args, sizeof args, named, int(n), where.file_name(),
                                 int(where.line()));
        else
            return dag_insert_at(pool, &raw_, &args, sizeof args, named, int(n), where.file_name(),
                                 int(where.line()));
    }

public:
    constexpr explicit kernel(const char *name) : raw_{}
    {
        int n = 0;
        raw_.name = name;
        raw_.ntiles = types::ntiles;
        (describe(raw_, n, V::access, detail::is_list<V>::value), ...);
        raw_.main = Main;
        raw_.body = run;
        if (reduces)
            raw_.reduce = combine;
    }

    /** The same with a priority, int64_t (const ARGS &): ready tasks of a rank run by falling priority. */
    template <auto F> constexpr kernel priority() const
    {
        kernel k = *this;
        k.raw_.priority = ask<F>;
        return k;
    }

    /** The same with a body for devices: the parameters of the other, then a dag_device_queue *. */
    template <auto F> constexpr kernel device(dag_device_kind kind) const
    {
        kernel k = *this;
        k.raw_.device = enqueue<F>;
        k.raw_.device_kind = kind;
        return k;
    }

    constexpr const dag_insert_kernel *raw() const { return &raw_; }
    constexpr operator const dag_insert_kernel *() const { return &raw_; }

    /** Insert a task: dag_insert(). */
    dag_status operator()(dag_taskpool *pool, const Args &args, const typename detail::named<V>::type &...all,
                          site where = site::current()) const
    {
        static_assert(Main != anywhere, "the call has to say by on() on which rank it runs");
        return enter(pool, DAG_INSERT_WHERE, args, all..., where);
    }

    /** Insert a task without a main tile on that rank: dag_insert_on(). */
    dag_status on(int rank, dag_taskpool *pool, const Args &args, const typename detail::named<V>::type &...all,
                  site where = site::current()) const
    {
        static_assert(Main == anywhere, "it runs where its main tile lives");
        return enter(pool, rank, args, all..., where);
    }
};

/* ---- pools ----------------------------------------------------------------------------------- */

/** A collection with the size of its items. */
struct sized {
    dag_collection *raw;
    std::size_t item;
    template <class T> sized(const collection<T> &c) : raw(c.raw), item(sizeof(T)) {}
};

/** dag_insert_begin(). @return DAG_ERR_ARG: items of a collection have another size than T, too. */
inline dag_status begin(dag_context *context, const char *name, std::initializer_list<sized> collections,
                        std::initializer_list<const dag_insert_kernel *> kernels, dag_taskpool **pool,
                        int64_t window = 0, int (*place)(const dag_tile *) = nullptr)
{
    std::vector<dag_collection *> raw;
    for (const sized &c : collections) {
        const int64_t first[DAG_MAX_INDEX] = {};
        dag_shape shape;
        raw.push_back(c.raw);
        if (!c.raw->ops->contains(c.raw, first))
            continue;
        c.raw->ops->shape_of(c.raw, first, &shape);
        if (shape.elem != c.item)
            return dag_error(context, DAG_ERR_ARG, "dag::begin: items of collection %s have %zu bytes, not %zu",
                             c.raw->name, shape.elem, c.item);
    }
    dag_insert_desc desc{};
    desc.name = name;
    desc.collections = raw.data();
    desc.ncollections = int(raw.size());
    desc.kernels = kernels.begin();
    desc.nkernels = int(kernels.size());
    desc.window = window;
    desc.place = place;
    return dag_insert_begin(context, &desc, pool);
}

/** dag_insert_value(): `items` of room. */
template <class T> dag_status value(dag_taskpool *pool, const tile<T> &t, T *buffer, std::size_t items)
{
    return dag_insert_value(pool, &t.raw, buffer, items * sizeof(T));
}

/** dag_insert_release(). */
template <class T> dag_status release(dag_taskpool *pool, const tile<T> &t)
{
    return dag_insert_release(pool, &t.raw);
}

} // namespace dag
#endif
