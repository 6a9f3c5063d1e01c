#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Values that are forgotten: each has a moment from which on it is no longer there, and there are never more of them than
/// `capacity`. When the table is full, the tenth of them that would be forgotten first makes room.
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

    /// How many values are in memory, forgotten ones that were not swept up yet included.
    var count: Int { slots.count }

    func value(for key: Key, at now: Date) -> Value? {
        guard let slot = slots[key], now < slot.expiresAt else { return nil }
        return slot.value
    }

    /// The values that are there, in no order.
    func values(at now: Date) -> [Value] { entries(at: now).map(\.value) }

    /// The values that are there, each with its key, in no order.
    func entries(at now: Date) -> [(key: Key, value: Value)] {
        slots.filter { now < $0.value.expiresAt }.map { ($0.key, $0.value.value) }
    }

    mutating func insert(_ value: Value, for key: Key, until expiresAt: Date, at now: Date) {
        if slots[key] == nil, slots.count >= nextSweep { makeRoom(at: now) }
        slots[key] = Slot(value: value, expiresAt: expiresAt)
    }

    /// As ``insert(_:for:until:at:)``, but what is there is never forgotten earlier than it would have been.
    mutating func extend(_ value: Value, for key: Key, until expiresAt: Date, at now: Date) {
        insert(value, for: key, until: max(expiresAt, slots[key]?.expiresAt ?? expiresAt), at: now)
    }

    /// Changes a value in place. Nil when it is not there.
    mutating func update<R>(_ key: Key, at now: Date, _ change: (inout Value) -> R) -> R? {
        guard var slot = slots[key], now < slot.expiresAt else { return nil }
        defer { slots[key] = slot }
        return change(&slot.value)
    }

    /// Takes a value out.
    mutating func remove(_ key: Key, at now: Date) -> Value? {
        guard let slot = slots.removeValue(forKey: key), now < slot.expiresAt else { return nil }
        return slot.value
    }

    /// Whether a new value would push another one out.
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
