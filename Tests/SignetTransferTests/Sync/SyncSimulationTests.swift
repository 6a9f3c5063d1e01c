import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetTransfer

/// Three machines that change accounts at random, and read old and new files of each other in any order.
@Suite("Three machines that synchronize at random")
struct SyncSimulationTests {
    /// A machine without a store: its vault is a dictionary.
    private struct Machine {
        var state: SyncState
        var vault: [AccountID: SyncFields] = [:]
        /// All files that the machine has written, oldest first.
        var files: [SyncState] = []
        /// The highest file of each other machine that was read, as ``FolderContents`` compares it.
        var newest: [String: SyncState] = [:]

        init(_ id: String) { state = SyncState(machine: id, name: id) }

        /// Synchronizes with these files, as ``VaultSync`` does.
        mutating func synchronize(with files: [SyncState], time: Int) throws {
            let readable = files.filter { $0.sequence >= (state.machines[$0.machine]?.sequence ?? -1) }
            for file in readable { newest[file.machine] = file }
            let established = SyncState.joinedEntries(readable)
            _ = state.record(vault, established: established, clock: readable.map(\.clock).max() ?? 0, time: time)
            state = state.merging(readable).state.forgetting(peers: newest, time: time)
            vault = [:]
            for (id, entry) in state.entries where entry.isLive {
                let synced = try SyncedAccount(id, entry)
                var hotp = synced.hotp
                hotp?.counterOwner = entry.owner == state.machine ? nil : entry.owner
                vault[id] = SyncFields(synced.account, [synced.totp, hotp].compactMap { $0 })
            }
            if state.entries != self.files.last?.entries {
                state.sequence += 1
                self.files.append(state)
            }
        }
    }

    /// The facts that the end of a run is compared with.
    private struct Model {
        /// The accounts that no machine ever removed.
        var kept: Set<AccountID> = []
        var next = 0
    }

    @Test("Machines converge, and lose no account that no machine removed", arguments: 0..<60)
    func converges(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var machines = SyncSample.machines.map(Machine.init)
        var model = Model()
        for step in 0..<120 {
            let index = Int.random(in: machines.indices, using: &random)
            if Int.random(in: 0..<3, using: &random) == 0 {
                // Some of the files, in an old or new version.
                let files = machines.indices.filter { $0 != index }.compactMap { other in
                    Bool.random(using: &random) ? machines[other].files.randomElement(using: &random) : nil
                }
                try machines[index].synchronize(with: files, time: step)
            } else {
                try Self.change(&machines[index].vault, &model, &random)
            }
        }
        try Self.synchronizeAll(&machines, time: 1_000)
        try Self.synchronizeAll(&machines, time: 1_001)
        let live = machines.map { machine in machine.state.entries.filter { $0.value.isLive } }
        #expect(live[0] == live[1] && live[1] == live[2])
        for machine in machines {
            #expect(Set(machine.vault.keys).isSuperset(of: model.kept))
            // Every machine knows every removal, so nothing of a removed account is left.
            let remains = machine.state.entries.values.filter { !$0.isLive && !$0.registers.isEmpty }
            #expect(remains.isEmpty)
        }
        // Nothing is left to say: a further round changes no state.
        let states = machines.map(\.state.sequence)
        try Self.synchronizeAll(&machines, time: 2_000)
        #expect(machines.map(\.state.sequence) == states)
    }

    private static func change(
        _ vault: inout [AccountID: SyncFields], _ model: inout Model, _ random: inout SeededGenerator
    ) throws {
        let present = vault.keys.sorted(by: AccountID.isBefore).randomElement(using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0...2:
            model.next += 1
            let name = "account\(model.next)"
            vault[SyncSample.id(name)] = try SyncSample.fields(name)
            model.kept.insert(SyncSample.id(name))
        case 3:
            // The same account on several machines, with another name.
            let name = "shared"
            vault[SyncSample.id(name)] = try SyncSample.fields(name, shownAs: "\(Int.random(in: 0..<9, using: &random))")
        case 4...6:
            guard let present else { return }
            let text = "\(Int.random(in: 0..<1_000, using: &random))"
            let isNote = Bool.random(using: &random)
            vault[present] = try SyncSample.fields(present.accountName, shownAs: isNote ? nil : text, note: isNote ? text : nil)
        default:
            guard let present else { return }
            vault[present] = nil
            model.kept.remove(present)
        }
    }

    @Test("A change survives when another machine removed the account without knowing it, if it is the newer one")
    func newerChangeSurvives() throws {
        var laptop = Machine(SyncSample.laptop)
        var desktop = Machine(SyncSample.desktop)
        laptop.vault[SyncSample.id("a")] = try SyncSample.fields("a")
        try laptop.synchronize(with: [], time: 0)
        try desktop.synchronize(with: laptop.files, time: 1)
        laptop.vault = [:]
        try laptop.synchronize(with: [], time: 2)
        desktop.vault[SyncSample.id("a")] = try SyncSample.fields("a", note: "changed")
        // The desktop sees the removal together with its own change, which is newer.
        try desktop.synchronize(with: Array(laptop.files.suffix(1)), time: 3)
        #expect(desktop.vault.count == 1)
        try laptop.synchronize(with: Array(desktop.files.suffix(1)), time: 4)
        #expect(laptop.vault == desktop.vault)
    }

    @Test("Two counters that were taken in turn never give a code twice")
    func countersAreNotRepeated() throws {
        var machines = SyncSample.machines.map(Machine.init)
        let id = SyncSample.id("counter")
        machines[0].vault[id] = try SyncSample.counterFields("counter", next: 0)
        var used: Set<UInt64> = []
        var random = SeededGenerator(seed: 1)
        for round in 0..<40 {
            try Self.synchronizeAll(&machines, time: round)
            let taker = Int.random(in: machines.indices, using: &random)
            let owner = machines.firstIndex { $0.state.entries[id]?.owner == $0.state.machine }
            let old = try #require(owner)
            if taker != old {
                let error = machines[taker].state.take(VaultSync.Taking(account: id))
                #expect(error == nil)
                let entry = try #require(machines[taker].state.entries[id])
                machines[taker].vault[id] = try SyncSample.counterFields("counter", next: #require(entry.counter).next)
            }
            // The old owner does not know of the new one yet and uses up to 20 codes.
            for index in Set([taker, old]).sorted() {
                let fields = try #require(machines[index].vault[id])
                let start = try #require(fields.counter)
                let count = UInt64.random(in: 0...UInt64(VaultSync.defaultJump), using: &random)
                for counter in start..<start + count {
                    let isNew = used.insert(counter).inserted
                    #expect(isNew)
                }
                machines[index].vault[id] = try SyncSample.counterFields("counter", next: start + count)
            }
        }
        try Self.synchronizeAll(&machines, time: 100)
        let owners = Set(machines.map { $0.state.entries[id]?.owner })
        #expect(owners.count == 1)
    }

    /// Synchronizes all machines twice, so that each has read the newest file of each other one.
    private static func synchronizeAll(_ machines: inout [Machine], time: Int) throws {
        for _ in 0..<2 {
            for index in machines.indices {
                let files = machines.indices.filter { $0 != index }.compactMap { machines[$0].files.last }
                try machines[index].synchronize(with: files, time: time)
            }
        }
    }
}
