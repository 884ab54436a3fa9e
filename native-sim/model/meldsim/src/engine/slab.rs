//! Slabs: objects that come and go on hot paths without the allocator.

/// The index of nothing: ends intrusive lists.
pub(crate) const NIL: u32 = u32::MAX;

/// Objects addressed by small indices; freed places are used again, the last freed first.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    items: Vec<T>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    pub(crate) fn new() -> Slab<T> {
        Slab {
            items: Vec::new(),
            free: Vec::new(),
        }
    }

    #[inline(always)]
    pub(crate) fn insert(&mut self, item: T) -> u32 {
        match self.free.pop() {
            Some(index) => {
                self.items[index as usize] = item;
                index
            }
            None => self.grow(item),
        }
    }

    /// The same of what is made in its place: a large object is not put together elsewhere before.
    #[inline(always)]
    pub(crate) fn insert_with(&mut self, make: impl FnOnce() -> T) -> u32
    where
        T: Default,
    {
        let index = self.free.pop().unwrap_or_else(|| self.grow(T::default()));
        self.items[index as usize] = make();
        index
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, item: T) -> u32 {
        debug_assert!(self.items.len() < NIL as usize);
        self.items.push(item);
        (self.items.len() - 1) as u32
    }

    /// Frees the place; the object stays readable until the place is used again.
    #[inline]
    pub(crate) fn remove(&mut self, index: u32) {
        self.free.push(index);
    }

    /// The objects, freed ones among them.
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// Bytes of memory it takes.
    pub(crate) fn memory(&self) -> u64 {
        let items = self.items.capacity() * size_of::<T>();
        (items + self.free.capacity() * size_of::<u32>()) as u64
    }

    /// Objects in use.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.items.len() - self.free.len()
    }
}

impl<T> std::ops::Index<u32> for Slab<T> {
    type Output = T;
    #[inline]
    fn index(&self, index: u32) -> &T {
        &self.items[index as usize]
    }
}

impl<T> std::ops::IndexMut<u32> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, index: u32) -> &mut T {
        &mut self.items[index as usize]
    }
}
