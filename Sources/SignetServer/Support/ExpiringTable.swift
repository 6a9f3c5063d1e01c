#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A table whose values expire, with at most `capacity` of them. When the table is full, the tenth of the values that would
/// expire first is removed.
struct ExpiringTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Slot {
        var value: Value
        let expiresAt: Date
    }

    let capacity: Int
    private var slots: [Key: Slot] = [:]
    private var nextSweep: Int

    init(capacity: Int) {
        self.capacity = capacity
        nextSweep = min(capacity, Self.firstSweep)
    }

    /// The number of stored values, including expired ones that are not removed yet.
    var count: Int { slots.count }

    func value(for key: Key, at now: Date) -> Value? {
        guard let slot = slots[key], now < slot.expiresAt else { return nil }
        return slot.value
    }

    /// Returns the unexpired values, unordered.
    func values(at now: Date) -> [Value] { entries(at: now).map(\.value) }

    /// Returns the unexpired values with their keys, unordered.
    func entries(at now: Date) -> [(key: Key, value: Value)] {
        slots.filter { now < $0.value.expiresAt }.map { ($0.key, $0.value.value) }
    }

    mutating func insert(_ value: Value, for key: Key, until expiresAt: Date, at now: Date) {
        if slots[key] == nil, slots.count >= nextSweep { makeRoom(at: now) }
        slots[key] = Slot(value: value, expiresAt: expiresAt)
    }

    /// Inserts a value like ``insert(_:for:until:at:)``, but never shortens the life of the existing one.
    mutating func extend(_ value: Value, for key: Key, until expiresAt: Date, at now: Date) {
        insert(value, for: key, until: max(expiresAt, slots[key]?.expiresAt ?? expiresAt), at: now)
    }

    /// Changes a value in place. Returns nil when it is missing.
    mutating func update<R>(_ key: Key, at now: Date, _ change: (inout Value) -> R) -> R? {
        guard var slot = slots[key], now < slot.expiresAt else { return nil }
        defer { slots[key] = slot }
        return change(&slot.value)
    }

    /// Removes and returns a value.
    mutating func remove(_ key: Key, at now: Date) -> Value? {
        guard let slot = slots.removeValue(forKey: key), now < slot.expiresAt else { return nil }
        return slot.value
    }

    /// Returns true when a new value would displace another one.
    mutating func isFull(at now: Date) -> Bool {
        if slots.count >= capacity { sweep(at: now) }
        return slots.count >= capacity
    }

    private static var firstSweep: Int { 64 }

    private mutating func makeRoom(at now: Date) {
        sweep(at: now)
        if slots.count >= capacity {
            let oldest = slots.sorted { $0.value.expiresAt < $1.value.expiresAt }.prefix(max(1, capacity / 10))
            for slot in oldest { slots[slot.key] = nil }
        }
        nextSweep = min(capacity, max(Self.firstSweep, slots.count * 2))
    }

    private mutating func sweep(at now: Date) {
        slots = slots.filter { now < $0.value.expiresAt }
    }
}
