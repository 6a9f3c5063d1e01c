import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetTransfer

@Suite("The merge of entries of a synchronization")
struct SyncEntryTests {
    // MARK: The algebra

    /// A random entry.
    ///
    /// Values follow from versions, as no machine sets two values with one version.
    private static func entry(_ random: inout SeededGenerator) -> SyncEntry {
        var entry = SyncEntry()
        func randomVersion() -> SyncVersion {
            SyncSample.version(.random(in: 1...6, using: &random), SyncSample.machines.randomElement(using: &random) ?? "")
        }
        for group in SyncGroup.told + [.added, .owner, SyncGroup(rawValue: "later")] where Bool.random(using: &random) {
            let version = randomVersion()
            let base = SyncVersion(counter: version.counter - 1, machine: SyncSample.laptop)
            entry.registers[group] = SyncSample.register("\(group.rawValue) \(version.text)", version, base: base)
        }
        if Bool.random(using: &random) {
            entry.counter = SyncCounter(secret: randomVersion(), next: .random(in: 0...9, using: &random))
        }
        if Bool.random(using: &random) {
            let version = randomVersion()
            entry.removal = SyncRemoval(version: version, base: nil, time: version.counter)
        }
        return entry
    }

    @Test("Joining entries is commutative, associative and idempotent", arguments: 0..<200)
    func joiningIsALattice(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        for _ in 0..<20 {
            let (first, second, third) = (Self.entry(&random), Self.entry(&random), Self.entry(&random))
            #expect(first.joined(with: second) == second.joined(with: first))
            #expect(first.joined(with: second).joined(with: third) == first.joined(with: second.joined(with: third)))
            #expect(first.joined(with: first) == first)
            let joined = first.joined(with: second)
            #expect(joined.joined(with: second) == joined)
        }
    }

    @Test("Merging states gives the same entries in every order, and merging one again changes nothing", arguments: 0..<50)
    func mergingHasNoOrder(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let states = SyncSample.machines.map { machine in
            var state = SyncState(machine: machine, name: machine)
            state.clock = 10
            for name in ["a", "b", "c"] where Bool.random(using: &random) {
                state.entries[SyncSample.id(name)] = Self.entry(&random)
            }
            return state
        }
        let expected = SyncState.joinedEntries(states)
        for own in states.indices {
            let others = states.indices.filter { $0 != own }.map { states[$0] }
            let atOnce = states[own].merging(others).state
            let oneByOne = others.reversed().reduce(states[own]) { $0.merging([$1]).state }
            #expect(atOnce.entries == expected && oneByOne.entries == expected)
            let again = atOnce.merging(others).state
            #expect(again.entries == expected && again.machines == atOnce.machines)
            #expect(again.merging(others).conflicts.isEmpty)
        }
    }

    // MARK: Versions

    @Test("Of two versions one is the newer one: by the counter, then by the machine")
    func ordersVersions() {
        let (old, new) = (SyncSample.version(3, SyncSample.server), SyncSample.version(4, SyncSample.laptop))
        #expect(old < new && SyncSample.version(3) < old)
        #expect(SyncVersion(new.text) == new)
    }

    @Test(
        "A text that is not a version is refused",
        arguments: [
            "", "3", "@aaaaaaaaaaaaaaaa", "-1@aaaaaaaaaaaaaaaa", "3@AAAAAAAAAAAAAAAA", "3@aa",
            "99999999999999999@aaaaaaaaaaaaaaaa",
        ])
    func refusesInvalidVersion(text: String) { #expect(SyncVersion(text) == nil) }

    @Test("A counter of a secret never moves back, and a new secret begins its own counter")
    func countersMoveForward() {
        var entry = SyncEntry()
        entry.registers[.hotp] = SyncSample.register("first", SyncSample.version(1))
        entry.advance(9)
        entry.advance(5)
        #expect(entry.counter?.next == 9)
        entry.registers[.hotp] = SyncSample.register("second", SyncSample.version(2))
        entry.advance(0)
        #expect(entry.counter == SyncCounter(secret: SyncSample.version(2), next: 0))
    }

    // MARK: Conflicts

    /// Two values of a group, and the one that is lost in a conflict; nil without a conflict.
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let left: SyncRegister
        let right: SyncRegister
        let lost: String?
        var testDescription: String { name }
    }

    private static let one = SyncSample.version(1)
    static let rows = [
        Row(
            name: "a change of the value that stands",
            left: SyncSample.register("old", one), right: SyncSample.register("new", SyncSample.version(2), base: one), lost: nil),
        Row(
            name: "two changes later",
            left: SyncSample.register("old", one),
            right: SyncSample.register("new", SyncSample.version(3), base: SyncSample.version(2)), lost: nil),
        Row(
            name: "two changes of the same value",
            left: SyncSample.register("left", SyncSample.version(2), base: one),
            right: SyncSample.register("right", SyncSample.version(3, SyncSample.desktop), base: one), lost: "left"),
        Row(
            name: "the same counter on two machines",
            left: SyncSample.register("left", SyncSample.version(2), base: one),
            right: SyncSample.register("right", SyncSample.version(2, SyncSample.desktop), base: one), lost: "left"),
        Row(
            name: "the same change on two machines",
            left: SyncSample.register("same", SyncSample.version(2), base: one),
            right: SyncSample.register("same", SyncSample.version(2, SyncSample.desktop), base: one), lost: nil),
        Row(
            name: "a first value on two machines",
            left: SyncSample.register("left", one),
            right: SyncSample.register("right", SyncSample.version(1, SyncSample.desktop)),
            lost: "left"),
    ]

    @Test("Two changes without knowledge of each other are a conflict, and the older value is kept", arguments: rows)
    func findsConflict(row: Row) {
        var (left, right) = (SyncEntry(), SyncEntry())
        (left.registers[.names], right.registers[.names]) = (row.left, row.right)
        let lost: [String?] = row.lost.map { [$0] } ?? []
        for conflicts in [
            SyncConflict.between(left, right, of: SyncSample.id("a")), SyncConflict.between(right, left, of: SyncSample.id("a")),
        ] {
            #expect(conflicts.map(\.lost.json.string) == lost)
        }
    }

    @Test(
        "A removal wins over older changes and loses against newer ones, and a change that it did not know is told",
        arguments: [2, 4])
    func comparesRemovalWithChange(counter: Int) throws {
        var base = SyncEntry()
        base.registers[.names] = SyncSample.register("old", Self.one)
        var (removed, changed) = (base, base)
        removed.removal = SyncRemoval(version: SyncSample.version(3), base: Self.one, time: 0)
        changed.registers[.names] = SyncSample.register("new", SyncSample.version(counter, SyncSample.desktop), base: Self.one)
        let joined = removed.joined(with: changed)
        #expect(joined.isLive == (counter == 4))
        let conflict = try #require(SyncConflict.between(removed, changed, of: SyncSample.id("a")).first)
        #expect(conflict.group == nil)
        #expect(conflict.lost.json["names"] == (counter == 4 ? nil : .string("new")))
    }

    @Test("A removal that knew the last change is not a conflict")
    func ordinaryRemovalIsNoConflict() {
        var old = SyncEntry()
        old.registers[.names] = SyncSample.register("old", Self.one)
        var removed = old
        removed.removal = SyncRemoval(version: SyncSample.version(2), base: Self.one, time: 0)
        #expect(SyncConflict.between(old, removed, of: SyncSample.id("a")).isEmpty)
        #expect(!old.joined(with: removed).isLive)
    }

    // MARK: Accounts that are new here

    @Test("A secret that was enrolled at different times on two machines is one account without a conflict")
    func enrollmentTimesDoNotConflict() throws {
        var laptop = SyncState(machine: SyncSample.laptop, name: "laptop")
        _ = laptop.record([SyncSample.id("a"): try SyncSample.fields("a")], established: [:], clock: 0, time: 0)
        var desktop = SyncState(machine: SyncSample.desktop, name: "desktop")
        let later = try SyncSample.fields("a", added: Sample.start.addingTimeInterval(60.5))
        let changes = desktop.record(
            [SyncSample.id("a"): later], established: laptop.entries, clock: laptop.clock, time: 0)
        #expect(changes.isEmpty)
        #expect(desktop.merging([laptop]).state.entries == laptop.entries)
    }

    @Test("A name that an account has only here is lost against the one of the other machines, and is kept as a conflict")
    func newAccountTakesNames() throws {
        var laptop = SyncState(machine: SyncSample.laptop, name: "laptop")
        _ = laptop.record([SyncSample.id("a"): try SyncSample.fields("a")], established: [:], clock: 0, time: 0)
        var desktop = SyncState(machine: SyncSample.desktop, name: "desktop")
        let own = try SyncSample.fields("a", shownAs: "mine")
        let changes = desktop.record([SyncSample.id("a"): own], established: laptop.entries, clock: laptop.clock, time: 0)
        #expect(changes.conflicts.map(\.group) == [.names])
        #expect(changes.conflicts.first?.lost.json["displayAccountName"] == .string("mine"))
    }

    // MARK: Removed accounts

    /// A state of the laptop that removed an account, and knows the desktop.
    private static func removing() -> SyncState {
        var state = SyncState(machine: SyncSample.laptop, name: "laptop")
        state.machines[SyncSample.desktop] = SyncMachine(name: "desktop", sequence: 1)
        var entry = SyncEntry()
        entry.registers[.totp] = SyncSample.register("secret", one)
        entry.removal = SyncRemoval(version: SyncSample.version(2), base: one, time: 1_000)
        state.entries[SyncSample.id("a")] = entry
        return state
    }

    @Test("The values of a removed account are kept until every machine has read the removal", arguments: [false, true])
    func forgetsValuesOfRemovedAccount(isKnown: Bool) {
        var desktop = SyncState(machine: SyncSample.desktop, name: "desktop")
        desktop.entries = Self.removing().entries
        if !isKnown { desktop.entries[SyncSample.id("a")]?.removal = nil }
        let state = Self.removing().forgetting(peers: [SyncSample.desktop: desktop], time: 1_000)
        let entry = state.entries[SyncSample.id("a")]
        #expect(entry?.removal != nil)
        #expect(entry?.registers.isEmpty == isKnown)
    }

    @Test("A machine whose file cannot be read keeps the values of removed accounts alive")
    func keepsValuesForAbsentMachine() {
        let state = Self.removing()
        #expect(state.forgetting(peers: [:], time: 1_000) == state)
    }

    @Test("A removal is forgotten after a year")
    func forgetsOldRemoval() {
        let state = Self.removing()
        #expect(state.forgetting(peers: [:], time: 1_000 + SyncRemoval.lifetime) == state)
        #expect(state.forgetting(peers: [:], time: 1_001 + SyncRemoval.lifetime).entries.isEmpty)
    }

    // MARK: The form in files

    @Test("A state is the same after it was written and read", arguments: 0..<20)
    func stateRoundTrip(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var state = SyncState(machine: SyncSample.laptop, name: "Laptop 🚀")
        (state.sequence, state.clock) = (7, 10)
        state.machines[SyncSample.desktop] = SyncMachine(name: "desktop", sequence: 3)
        for name in ["a", "b"] { state.entries[SyncSample.id(name)] = Self.entry(&random) }
        state.conflicts = [
            SyncConflict(
                account: SyncSample.id("a"), group: .names, winner: SyncSample.version(2), loser: Self.one,
                lost: SyncValue(.string("x")), time: 5)
        ]
        let bytes = JSON.encode(.object(state.storedMembers))
        #expect(try SyncState(stored: JSON.members(of: bytes)) == state)
    }

    @Test("A state with a version newer than its clock is refused")
    func refusesImpossibleClock() {
        var state = SyncState(machine: SyncSample.laptop, name: "laptop")
        state.entries[SyncSample.id("a")] = SyncEntry()
        state.entries[SyncSample.id("a")]?.registers[.names] = SyncSample.register("x", SyncSample.version(2))
        state.clock = 1
        let bytes = JSON.encode(.object(state.storedMembers))
        #expect(throws: (any Error).self) { try SyncState(stored: JSON.members(of: bytes)) }
    }

    @Test("No text form of a value shows it")
    func hidesSynchronizedValues() {
        let value = SyncValue(.string("KDJ7CDBN"))
        #expect(
            !"\(value) \(String(reflecting: value)) \(String(describing: Mirror(reflecting: value).children.map(\.value)))"
                .contains("KDJ7"))
    }
}
