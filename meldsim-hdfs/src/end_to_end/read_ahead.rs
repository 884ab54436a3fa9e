//! What is requested ahead of a reader of a block: by the window of the DataNode plugin, by an unmodified Linux below an
//! unmodified DataNode, or by nobody.
//!
//! Comes in: the reader's way through the block, page by page. Goes out: requests of the device, in order, each by where it
//! ends. The same rules as `org.hdfsmeld.datanode.readahead`, for a block that is read once, from its start, without a jump.

use std::collections::VecDeque;

/// The page of the kernel, by which a reader goes on.
pub(super) const PAGE_BYTES: u64 = 4 << 10;
/// A request of the plugin's: `dfs.datanode.meld.readahead.request`.
const WINDOW_REQUEST_BYTES: u64 = 1 << 20;
/// `dfs.datanode.readahead.bytes`, by default.
const DATANODE_BYTES: u64 = 4 << 20;

/// Who reads ahead, and how far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadAhead {
    /// The plugin's adaptive window, of so many bytes at most. It is larger than a packet.
    Adaptive { window_bytes: u64 },
    /// The kernel, and where Hadoop's native library is there, the DataNode's advice to it.
    Linux {
        /// `queue/read_ahead_kb`.
        read_ahead_bytes: u64,
        /// `queue/max_sectors_kb`.
        max_request_bytes: u64,
        /// Whether there is Hadoop's native library.
        advised: bool,
    },
    /// Nobody: the next bytes are requested once all before have been taken.
    None { request_bytes: u64 },
}

/// The block, and where its requests end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub(super) block_bytes: u64,
    pub(super) page_bytes: u64,
    pub(super) wordline_bytes: u64,
}

/// What has been requested of one block.
#[derive(Debug)]
pub(super) struct Requested {
    extent: Extent,
    /// All before this has been requested.
    end: u64,
    /// Where the requests end that the device has not got yet.
    new: VecDeque<u64>,
    policy: Policy,
}

#[derive(Debug)]
enum Policy {
    Window(Window),
    Kernel(Kernel),
    Waiting(u64),
}

impl Requested {
    pub(super) fn new(read_ahead: ReadAhead, extent: Extent) -> Requested {
        let policy = match read_ahead {
            ReadAhead::Adaptive { window_bytes } => Policy::Window(Window {
                max_bytes: window_bytes.next_multiple_of(extent.wordline_bytes),
                request_bytes: WINDOW_REQUEST_BYTES.next_multiple_of(extent.wordline_bytes),
                span: 0,
                top_up_at: 0,
            }),
            ReadAhead::Linux {
                read_ahead_bytes,
                max_request_bytes,
                advised,
            } => Policy::Kernel(Kernel::new(read_ahead_bytes, max_request_bytes, advised)),
            ReadAhead::None { request_bytes } => Policy::Waiting(request_bytes),
        };
        Requested {
            extent,
            end: 0,
            new: VecDeque::new(),
            policy,
        }
    }

    /// The reader comes to the page at `offset`, of a read from `from` to `to`.
    pub(super) fn come(&mut self, offset: u64, from: u64, to: u64) {
        let Requested {
            extent,
            end,
            new,
            policy,
        } = self;
        let ends_at = *end;
        let mut request = |until: u64| {
            let until = until.min(extent.block_bytes.next_multiple_of(extent.page_bytes));
            if until > *end {
                *end = until;
                new.push_back(until);
            }
        };
        match policy {
            Policy::Window(window) if offset == from => window.come(to, extent, ends_at, request),
            Policy::Window(_) => {}
            Policy::Kernel(kernel) => kernel.come(offset, from, to, extent, request),
            Policy::Waiting(bytes) if offset >= ends_at => request(offset + *bytes),
            Policy::Waiting(_) => {}
        }
    }

    /// Whether there is a request that the device has not got yet.
    pub(super) fn has_new(&self) -> bool {
        !self.new.is_empty()
    }

    /// Where the next of these ends.
    pub(super) fn pop(&mut self) -> Option<u64> {
        self.new.pop_front()
    }
}

/// `ReadAheadWindow`, adaptive.
#[derive(Debug)]
struct Window {
    max_bytes: u64,
    request_bytes: u64,
    /// Requested bytes ahead of the reader.
    span: u64,
    /// A read that ends past this looks whether more should be requested.
    top_up_at: u64,
}

impl Window {
    fn come(&mut self, to: u64, extent: &Extent, mut end: u64, mut request: impl FnMut(u64)) {
        if to <= self.top_up_at {
            return;
        }
        let is_first = self.span == 0;
        let unit = match is_first {
            true => extent.page_bytes,
            false => extent.wordline_bytes,
        };
        let goal = match is_first {
            true => {
                let asked = to.next_multiple_of(extent.page_bytes);
                self.span =
                    initial_size(asked, self.max_bytes).next_multiple_of(extent.wordline_bytes);
                self.span
            }
            false => {
                self.span = next_size(self.span, self.max_bytes);
                to + self.span
            }
        };
        let readable = extent.block_bytes.next_multiple_of(extent.page_bytes);
        let last = goal.max(to).min(readable);
        let half = (self.span / 2).next_multiple_of(extent.wordline_bytes);
        let step = self.request_bytes.min(half);
        while end < last {
            // The window may end short of its goal, but by less than a step.
            if last - end < step && last < readable && end >= to {
                break;
            }
            let next = end + self.request_bytes;
            let next = next - next % extent.wordline_bytes;
            end = next.min(last.next_multiple_of(unit)).min(readable);
            request(end);
        }
        self.top_up_at = match end >= readable {
            true => end,
            false => end - self.span + step,
        };
    }
}

/// `struct file_ra_state` of `mm/readahead.c`, as of Linux 6.12, in pages; what is named after a function is that function.
#[derive(Debug)]
struct Kernel {
    io_pages: u64,
    /// `ra_pages`: the largest window.
    max_pages: u64,
    advised: bool,
    last_will_need: Option<u64>,
    /// The page after the last cached or requested one.
    cached_to: u64,
    /// The newest window, and how much of it is still to be read at its mark.
    start: u64,
    size: u64,
    async_size: u64,
    /// The page that carries `PG_readahead`.
    marked: Option<u64>,
}

impl Kernel {
    fn new(read_ahead_bytes: u64, max_request_bytes: u64, advised: bool) -> Kernel {
        // `POSIX_FADV_SEQUENTIAL` doubles the window.
        let times = if advised { 2 } else { 1 };
        Kernel {
            io_pages: max_request_bytes / PAGE_BYTES,
            max_pages: read_ahead_bytes / PAGE_BYTES * times,
            advised,
            last_will_need: None,
            cached_to: 0,
            start: 0,
            size: 0,
            async_size: 0,
            marked: None,
        }
    }

    fn come(
        &mut self,
        offset: u64,
        from: u64,
        to: u64,
        extent: &Extent,
        mut request: impl FnMut(u64),
    ) {
        if offset == from {
            self.will_need(from, extent, &mut request);
        }
        let page = offset / PAGE_BYTES;
        let asked = to.div_ceil(PAGE_BYTES) - page;
        if page >= self.cached_to {
            self.miss(page, from / PAGE_BYTES, asked, extent, &mut request);
        }
        if self.marked == Some(page) {
            self.marked = None;
            self.reached_mark(page, asked, extent, &mut request);
        }
    }

    /// `ReadaheadPool.readaheadStream`, and of it what `force_page_cache_ra` takes.
    fn will_need(&mut self, from: u64, extent: &Extent, request: impl FnMut(u64)) {
        let is_early = |last| from < last + DATANODE_BYTES / 2;
        if !self.advised || self.last_will_need.is_some_and(is_early) {
            return;
        }
        self.last_will_need = Some(from);
        let first = from / PAGE_BYTES;
        let wanted = (from + DATANODE_BYTES).div_ceil(PAGE_BYTES) - first;
        self.submit(
            first,
            wanted.min(self.io_pages.max(self.max_pages)),
            0,
            extent,
            request,
        );
    }

    /// `page_cache_sync_ra`; the read before ended where this one begins, at page `first`.
    fn miss(
        &mut self,
        page: u64,
        first: u64,
        asked: u64,
        extent: &Extent,
        request: impl FnMut(u64),
    ) {
        let max = self.max_pages(asked);
        let history = page.min(max);
        if page == 0 || asked > max || page - first <= 1 {
            self.size = initial_size(asked, max);
            self.async_size = match self.size > asked {
                true => self.size - asked,
                false => self.size / 2,
            };
        } else if history <= asked {
            return self.submit(page, asked, 0, extent, request);
        } else {
            self.size = (2 * history + asked).min(max);
            self.async_size = 1;
        }
        self.start = page;
        self.submit(page, self.size, self.async_size, extent, request);
    }

    /// `page_cache_async_ra`.
    fn reached_mark(&mut self, page: u64, asked: u64, extent: &Extent, request: impl FnMut(u64)) {
        let max = self.max_pages(asked);
        if page == self.start + self.size - self.async_size {
            self.start += self.size;
            self.size = next_size(self.size, max);
        } else {
            if self.cached_to - page > max {
                return;
            }
            self.start = self.cached_to;
            self.size = next_size(self.cached_to - page + asked, max);
        }
        self.async_size = self.size;
        self.submit(self.start, self.size, self.async_size, extent, request);
    }

    /// `ractl_max_pages`.
    fn max_pages(&self, asked: u64) -> u64 {
        match asked > self.max_pages && self.io_pages > self.max_pages {
            true => asked.min(self.io_pages),
            false => self.max_pages,
        }
    }

    /// `page_cache_ra_unbounded`: requests those of the pages that are not cached, and marks the one `lookahead` before the end.
    fn submit(
        &mut self,
        first: u64,
        pages: u64,
        lookahead: u64,
        extent: &Extent,
        mut request: impl FnMut(u64),
    ) {
        let end = (first + pages).min(extent.block_bytes.div_ceil(PAGE_BYTES));
        let mark = first + pages - lookahead;
        if lookahead > 0 && (self.cached_to..end).contains(&mark) {
            self.marked = Some(mark);
        }
        while self.cached_to < end {
            self.cached_to = (self.cached_to + self.io_pages).min(end);
            request((self.cached_to * PAGE_BYTES).next_multiple_of(extent.page_bytes));
        }
    }
}

/// `get_init_ra_size`, in any unit.
fn initial_size(asked: u64, max: u64) -> u64 {
    let rounded = asked.next_power_of_two();
    if rounded <= max / 32 {
        rounded * 4
    } else if rounded <= max / 4 {
        rounded * 2
    } else {
        max
    }
}

/// `get_next_ra_size`, in any unit.
fn next_size(size: u64, max: u64) -> u64 {
    if size < max / 16 {
        size * 4
    } else if size <= max / 2 {
        size * 2
    } else {
        max
    }
}
