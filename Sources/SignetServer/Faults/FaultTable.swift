import SignetCore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The faults that are switched on. They live in the memory of one process: of several instances that share their state each has its
/// own.
public final class FaultTable: Sendable {
    /// The most faults that can be on at once.
    public static let size = 100

    /// A fault that is on, and what became of it.
    public struct Entry: Sendable, Hashable {
        /// What was switched on.
        public let rule: FaultRule
        /// How often it was applied.
        public fileprivate(set) var applied = 0
        /// For how many more requests it is; nil when they are not counted.
        public fileprivate(set) var remaining: Int?

        fileprivate let id: Int
    }

    private struct Table: Sendable {
        var entries: [Entry] = []
        var lastID = 0

        var deliveryIDs: [Int] { entries.filter(\.rule.kind.isOfDeliveries).map(\.id) }
    }

    private let contextPath: String
    private let realms: Set<RealmPath>
    private let hasFront: Bool
    private let clock: any WallClock
    private let table = Mutex(Table())
    private let listener = Mutex<@Sendable () -> Void>({})

    init(contextPath: String, realms: Set<RealmPath>, hasFront: Bool, clock: any WallClock) {
        self.contextPath = contextPath
        self.realms = realms
        self.hasFront = hasFront
        self.clock = clock
    }

    /// Has `tell` called whenever a fault of deliveries is switched on or off.
    func onDeliveryChange(_ tell: @escaping @Sendable () -> Void) { listener.withLock { $0 = tell } }

    private func change<R>(_ body: (inout Table) -> R) -> R {
        let (result, concernsDeliveries) = table.withLock { table in
            let before = table.deliveryIDs
            return (body(&table), table.deliveryIDs != before)
        }
        if concernsDeliveries {
            let tell = listener.withLock { $0 }
            tell()
        }
        return result
    }

    /// The faults that are on, in the order in which they were switched on. Those whose time or number is over are not among them.
    public var entries: [Entry] {
        let now = clock.now
        return table.withLock { table in table.entries.filter { $0.isOn(at: now) } }
    }

    /// The names of what faults can happen at here.
    var routes: [String] { FaultRoute.names.filter { hasFront || $0 != FaultRoute.front } }

    /// Switches a fault on, in the place of one of the same name.
    /// - Throws: What is wrong with it, for example ``FaultError/unknownRoute(_:)``.
    public func switchOn(_ rule: FaultRule) throws(FaultError) {
        let now = clock.now
        try rule.check(contextPath: contextPath, realms: realms, hasFront: hasFront, at: now)
        var rule = rule
        rule.route = rule.route.below(contextPath)
        let isFull = change { table in
            table.entries.removeAll { !$0.isOn(at: now) || $0.rule.name == rule.name }
            guard table.entries.count < Self.size else { return true }
            table.lastID += 1
            let remaining: Int? = if case .times(let count) = rule.extent { count } else { nil }
            table.entries.append(Entry(rule: rule, remaining: remaining, id: table.lastID))
            return false
        }
        if isFull { throw .parameter("name", "would be that of one fault more than the \(Self.size) that can be on") }
    }

    /// Switches a fault off.
    /// - Returns: Whether there was one of this name.
    @discardableResult
    public func switchOff(_ name: String) -> Bool {
        let now = clock.now
        return change { table in
            let wasOn = table.entries.contains { $0.rule.name == name && $0.isOn(at: now) }
            table.entries.removeAll { $0.rule.name == name }
            return wasOn
        }
    }

    /// Switches all faults off.
    public func switchAllOff() { change { $0.entries = [] } }

    /// Whether nothing is on: so a server without faults has no work with them.
    var isIdle: Bool { table.withLock { $0.entries.isEmpty } }

    /// Those that may be meant.
    func candidates(where isMeant: (FaultRule) -> Bool) -> [Entry] { entries.filter { isMeant($0.rule) } }

    /// Takes one of the times that a fault is for. False when others have taken the last one.
    func take(_ entry: Entry) -> Bool {
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

    /// Gives a time back that could not be used.
    func giveBack(_ entry: Entry) {
        table.withLock { table in
            guard let index = table.entries.firstIndex(where: { $0.id == entry.id }) else { return }
            table.entries[index].applied -= 1
            table.entries[index].remaining = table.entries[index].remaining.map { $0 + 1 }
        }
    }
}

extension FaultTable.Entry {
    fileprivate func isOn(at now: Date) -> Bool {
        if remaining == 0 { return false }
        if case .until(let end) = rule.extent { return now < end }
        return true
    }
}
