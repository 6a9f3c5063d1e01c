import Foundation
import SignetAuthenticator
import SignetCore
import SignetStorage
import SignetTesting
import Testing

@testable import FRAuthenticator

/// One set of cases for both families, over each storage, with a running server, and with each storage call failing in turn.
@Suite("Authenticator and FRAClient, the two API families")
struct FamilyTests {
    /// A family and its storage.
    struct Setting: Sendable, CustomTestStringConvertible {
        let family: FamilyKind
        let storage: CaseStorage.Kind
        var testDescription: String { "\(family), \(storage)" }
    }

    static let settings = FamilyKind.allCases.flatMap { family in
        CaseStorage.Kind.allCases.map { Setting(family: family, storage: $0) }
    }

    @Test("An operation has the same result in both API families with a real server", arguments: FamilyCase.all, settings)
    func bothFamiliesActAlikeWithRealServer(row: FamilyCase, setting: Setting) async throws {
        try await RealServer.with { server in
            try await TemporaryDirectory.with(inMemory: true) { directory in
                let run = try FamilyCaseRun(setting.family, CaseStorage(setting.storage, in: directory), server)
                try await run.family.take(token: "token-1")
                try await check(row, run)
            }
        }
    }

    /// Runs a case twice and checks the result each time.
    private func check(_ row: FamilyCase, _ run: FamilyCaseRun) async throws {
        // This server does not support token updates, and refuses them.
        let refusal = row.sendsDeviceToken ? .network : row.refusal
        try await row.prepare(run)
        let before = try run.state()
        await expect(refusal, "at first") { try await row.perform(run) }
        let after = try run.state()
        #expect(try row.isDone(before, after, run), "\(after)")
        // The family lists the stored objects.
        let listing = try await run.family.listed()
        #expect(listing.accounts.count == after.accounts.count)
        let mechanisms = after.mechanisms.map { "\($0.uid) \($0.kindName.rawValue)" }
        #expect(Set(listing.mechanisms) == Set(mechanisms))
        let notifications = after.notifications.map { "\($0.id) \($0.decision?.rawValue ?? "pending")" }.sorted()
        #expect(listing.notifications == notifications)
        await expect(refusal ?? row.repeatRefusal, "again") { try await row.perform(run) }
        #expect(try row.isDone(before, run.state(), run))
    }

    /// Expects `body` to throw `refusal`, or to succeed when `refusal` is nil.
    private func expect(_ refusal: APIError?, _ comment: Comment, _ body: () async throws -> Void) async {
        do {
            try await body()
            #expect(refusal == nil, comment)
        } catch {
            #expect(error as? APIError == refusal, comment)
        }
    }

    @Test(
        "An operation is done completely or not at all when any one storage call fails", .serialized, arguments: FamilyCase.all,
        settings.filter { $0.storage != .sqliteClient })
    func operationIsAtomicWhenStorageCallFails(row: FamilyCase, setting: Setting) async throws {
        for late in [false, true] {
            var number = 0
            var (wasHit, hasWritten) = (true, false)
            while wasHit {
                number += 1
                // A run never waits. Cases run one at a time and pass on their thread after each run, because otherwise they keep all
                // threads, and a server or a callback of another test comes too late.
                await Task.yield()
                try await TemporaryDirectory.with(inMemory: true) { directory in
                    let run = try FamilyCaseRun(setting.family, CaseStorage(setting.storage, in: directory), AcceptingServer())
                    (wasHit, hasWritten) = try await check(row, run, failingAt: number, late: late)
                }
                try #require(number < 200, "the case still reaches the failing call after 200 runs")
            }
            // Every case reads storage; but in an app's storage client only changes can fail.
            #expect(number > 1 || late || setting.storage.isClient && !hasWritten)
        }
    }

    /// Runs a case with one call failing, and then again.
    ///
    /// Returns whether there was such a call, and whether anything was written by the first run.
    private func check(
        _ row: FamilyCase, _ run: FamilyCaseRun, failingAt number: Int, late: Bool
    ) async throws -> (wasHit: Bool, hasWritten: Bool) {
        let comment: Comment = "call \(number), late: \(late)"
        try await addOtherAccount(run)
        try await row.prepare(run)
        let (everything, before) = (try run.storage.state(), try run.state())
        let countdown = run.storage.fail(at: number, late: late)
        var failure: APIError?
        do {
            try await row.perform(run)
        } catch let refusal as APIError {
            failure = refusal
        }
        run.storage.reset()
        let between = try run.storage.state()
        // Other accounts are unchanged, and no mechanism or notification is without its owner.
        #expect(between.without(run.account) == everything.without(run.account), comment)
        #expect(!between.hasOrphans && between.damaged == 0, comment)
        if countdown.wasHit {
            #expect(failure == nil || failure == .store || failure == row.refusal, comment)
        } else {
            #expect(failure == row.refusal, comment)
        }
        let after = try run.state()
        let isDone = failure == nil && row.refusal == nil
        let isDoneDespiteFailure = try late && (row.isDoneAfterFailure?(before, after) ?? row.isDone(before, after, run))
        #expect(try isDone ? row.isDone(before, after, run) : before == after || isDoneDespiteFailure, comment)
        // The operation succeeds when it is repeated, and keeps any change that was stored despite the failure.
        do {
            try await row.perform(run)
            #expect(row.refusal == nil, comment)
        } catch let refusal as APIError {
            // The first read stores an answer that the server had accepted; the next line checks that.
            #expect(refusal == row.refusal || refusal == row.repeatRefusal, comment)
        }
        #expect(try row.isDone(before, run.state(), run), comment)
        #expect(try run.storage.state().without(run.account) == everything.without(run.account), comment)
        return (countdown.wasHit, between != everything)
    }

    /// Adds another account of the user: a used HOTP mechanism, push with notifications, and a changed name.
    private func addOtherAccount(_ run: FamilyCaseRun) async throws {
        let family = run.family
        try await family.take(token: "token-1")
        let other = AccountID(issuer: "Quay Bank", accountName: "mira")
        try await family.enroll(
            Sample.combined.replacing("Harbor%20Bank", with: "Quay%20Bank")
                .replacing(Sample.base64("Harbor Bank"), with: Sample.base64("Quay Bank")).replacing("REGISTER:1", with: "R:2"))
        try await family.enroll(Sample.hotp.replacing("Harbor", with: "Quay"))
        _ = try await family.code(.hotp, of: other)
        try await family.rename(other, to: "Quay")
        guard let push = try run.storage.state().of(other).mechanisms.first(where: { $0.kindName == .push }) else {
            throw Unexpected()
        }
        for id in ["1", "2"] {
            let delivery = PushDelivery(messageId: "Q:\(id)", message: try Sample.message(to: push.uid))
            let notification = try await family.receive(delivery)
            if id == "1" { try await family.approve(notification, number: nil) }
        }
    }
}

extension CaseStorage.State {
    /// True if a mechanism or notification is stored without its owner.
    fileprivate var hasOrphans: Bool {
        let (ids, uids) = (Set(accounts.map(\.id)), Set(mechanisms.map(\.uid)))
        return !mechanisms.allSatisfy { ids.contains($0.account) }
            || !notifications.allSatisfy { uids.contains($0.message.mechanismUID) }
    }
}
