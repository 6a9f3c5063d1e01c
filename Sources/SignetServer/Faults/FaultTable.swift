import Foundation
import SignetCore

/// The enabled faults.
///
/// They are in the memory of one process: servers that share their state have separate faults.
public final class FaultTable: Sendable {
    /// The maximum number of enabled faults.
    public static let size = 100

    /// An enabled fault, with its counts.
    public struct Entry: Sendable, Hashable {
        /// The rule of the fault.
        public let rule: FaultRule
        /// The number of times that the fault was applied.
        public fileprivate(set) var applied = 0
        /// The remaining number of times; nil when the fault isn't limited by a count.
        public fileprivate(set) var remaining: Int?

        fileprivate let id: Int
    }

    private struct Table: Sendable {
        var entries: [Entry] = []
        var lastID = 0
        /// The number of times that faults of each kind were applied, including disabled ones.
        var fired: [String: Int] = [:]

        var deliveryIDs: [Int] { entries.filter(\.rule.kind.isOfDeliveries).map(\.id) }
    }

    private let contextPath: String
    private let realms: Set<RealmPath>
    private let hasPushGateway: Bool
    private let clock: any WallClock
    private let table = Mutex(Table())
    private let onDeliveryChange: @Sendable () -> Void

    /// Creates an empty table.
    /// - Parameters:
    ///   - contextPath: The context path of the server.
    ///   - realms: The realms of the server.
    ///   - hasPushGateway: True when the server has a push gateway.
    ///   - clock: The server's clock.
    ///   - onDeliveryChange: The closure to call whenever a delivery fault is enabled or disabled.
    init(
        contextPath: String, realms: Set<RealmPath>, hasPushGateway: Bool, clock: any WallClock,
        onDeliveryChange: @escaping @Sendable () -> Void
    ) {
        self.contextPath = contextPath
        self.realms = realms
        self.hasPushGateway = hasPushGateway
        self.clock = clock
        self.onDeliveryChange = onDeliveryChange
    }

    private func change<R>(_ body: (inout Table) -> R) -> R {
        let (result, concernsDeliveries) = table.withLock { table in
            let before = table.deliveryIDs
            return (body(&table), table.deliveryIDs != before)
        }
        if concernsDeliveries { onDeliveryChange() }
        return result
    }

    /// The enabled faults, in the order in which they were enabled, without those that have ended.
    public var entries: [Entry] {
        let now = clock.now
        return table.withLock { table in table.entries.filter { $0.isEnabled(at: now) } }
    }

    /// The number of times that faults of each kind were applied since the start, by the name of the kind.
    var firedCounts: [String: Int] { table.withLock { $0.fired } }

    /// The names of the routes at which faults are possible on this server.
    var routes: [String] { FaultRoute.names.filter { hasPushGateway || $0 != Route.gateway.rawValue } }

    /// Enables a fault.
    ///
    /// It replaces a fault with the same name.
    /// - Throws: The error in the rule, for example ``FaultError/Code/unknownRoute``.
    public func enable(_ rule: FaultRule) throws(FaultError) {
        let now = clock.now
        try rule.check(contextPath: contextPath, realms: realms, hasPushGateway: hasPushGateway, at: now)
        var rule = rule
        rule.route = rule.route.below(contextPath)
        let isFull = change { table in
            table.entries.removeAll { !$0.isEnabled(at: now) || $0.rule.name == rule.name }
            guard table.entries.count < Self.size else { return true }
            table.lastID += 1
            let remaining: Int? = if case .times(let count) = rule.extent { count } else { nil }
            table.entries.append(Entry(rule: rule, remaining: remaining, id: table.lastID))
            return false
        }
        if isFull { throw .parameter("name", "would be that of one fault more than the \(Self.size) that can be enabled") }
    }

    /// Disables a fault.
    /// - Returns: True if a fault with this name was enabled.
    @discardableResult
    public func disable(_ name: String) -> Bool {
        let now = clock.now
        return change { table in
            let wasEnabled = table.entries.contains { $0.rule.name == name && $0.isEnabled(at: now) }
            table.entries.removeAll { $0.rule.name == name }
            return wasEnabled
        }
    }

    /// Disables all faults.
    public func disableAll() { change { $0.entries = [] } }

    /// True when the table is empty, so that a server without faults can skip their handling.
    var isIdle: Bool { table.withLock { $0.entries.isEmpty } }

    /// Returns the enabled faults that match a condition.
    func candidates(where isMeant: (FaultRule) -> Bool) -> [Entry] { entries.filter { isMeant($0.rule) } }

    /// Applies a fault: uses one of its times, and counts it.
    ///
    /// Returns false when concurrent requests have used the last one.
    func take(_ entry: Entry) -> Bool {
        guard reserve(entry) else { return false }
        confirmUse(entry)
        return true
    }

    /// Uses one of the times of a fault that may not apply to the response.
    ///
    /// ``confirmUse(_:)`` or ``restoreUse(_:)`` follows. Returns false when concurrent requests have used the last one.
    func reserve(_ entry: Entry) -> Bool {
        table.withLock { table in
            guard let index = table.entries.firstIndex(where: { $0.id == entry.id }) else { return false }
            if let remaining = table.entries[index].remaining {
                guard remaining > 0 else { return false }
                table.entries[index].remaining = remaining - 1
            }
            table.entries[index].applied += 1
            return true
        }
    }

    /// Counts a reserved fault that was applied.
    ///
    /// The count is a counter of the metrics, which must never fall. It is therefore not raised before.
    func confirmUse(_ entry: Entry) { table.withLock { $0.fired[entry.rule.kind.name, default: 0] += 1 } }

    /// Returns a time to a reserved fault that didn't apply.
    func restoreUse(_ entry: Entry) {
        table.withLock { table in
            guard let index = table.entries.firstIndex(where: { $0.id == entry.id }) else { return }
            table.entries[index].applied -= 1
            table.entries[index].remaining = table.entries[index].remaining.map { $0 + 1 }
        }
    }
}

extension FaultTable.Entry {
    fileprivate func isEnabled(at now: Date) -> Bool {
        if remaining == 0 { return false }
        if case .until(let end) = rule.extent { return now < end }
        return true
    }
}
