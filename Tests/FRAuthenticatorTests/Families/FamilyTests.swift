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
        let place: Place.Kind
        var testDescription: String { "\(family), \(place)" }
    }

    static let settings = FamilyKind.allCases.flatMap { family in
        Place.Kind.allCases.map { Setting(family: family, place: $0) }
    }

    @Test("An operation has the same result in both API families with a real server", arguments: FamilyCase.all, settings)
    func bothFamiliesActAlikeWithRealServer(row: FamilyCase, setting: Setting) async throws {
        try await RealServer.with { server in
            try await TemporaryDirectory.with(inMemory: true) { directory in
                let stage = try Stage(setting.family, Place(setting.place, in: directory), server)
                try await stage.family.take(token: "token-1")
                try await check(row, stage)
            }
        }
    }

    /// Runs a case twice and checks the result each time.
    private func check(_ row: FamilyCase, _ stage: Stage) async throws {
        // This server does not support token updates, and refuses them.
        let refusal = row.tellsServers ? .network : row.refusal
        try await row.prepare(stage)
        let before = try stage.state()
        await expect(refusal, "at first") { try await row.act(stage) }
        let after = try stage.state()
        #expect(try row.isDone(before, after, stage), "\(after)")
        // The family lists the stored objects.
        let listing = try await stage.family.listed()
        #expect(listing.accounts.count == after.accounts.count)
        let mechanisms = after.mechanisms.map { "\($0.uid) \($0.kindName.rawValue)" }
        #expect(Set(listing.mechanisms) == Set(mechanisms))
        let notifications = after.notifications.map { "\($0.id) \($0.decision?.rawValue ?? "pending")" }.sorted()
        #expect(listing.notifications == notifications)
        await expect(refusal ?? row.again, "again") { try await row.act(stage) }
        #expect(try row.isDone(before, stage.state(), stage))
    }

    /// Expects `body` to throw `refusal`, or to succeed when `refusal` is nil.
    private func expect(_ refusal: APIError?, _ place: Comment, _ body: () async throws -> Void) async {
        do {
            try await body()
            #expect(refusal == nil, place)
        } catch {
            #expect(error as? APIError == refusal, place)
        }
    }

    @Test(
        "An operation is done completely or not at all when any one storage call fails", arguments: FamilyCase.all,
        settings.filter { $0.place != .sqliteClient })
    func operationIsAtomicWhenStorageCallFails(row: FamilyCase, setting: Setting) async throws {
        for late in [false, true] {
            var number = 0
            var (wasHit, hasWritten) = (true, false)
            while wasHit {
                number += 1
                try await TemporaryDirectory.with(inMemory: true) { directory in
                    let stage = try Stage(setting.family, Place(setting.place, in: directory), WillingServer())
                    (wasHit, hasWritten) = try await check(row, stage, failingAt: number, late: late)
                }
                try #require(number < 200, "the case still reaches the failing call after 200 runs")
            }
            // Every case reads storage; but in an app's storage client only changes can fail.
            #expect(number > 1 || late || setting.place.isClient && !hasWritten)
        }
    }

    /// Runs a case with one call failing, and then again. Returns whether there was such a call, and whether anything was written
    /// by the first run.
    private func check(
        _ row: FamilyCase, _ stage: Stage, failingAt number: Int, late: Bool
    ) async throws -> (wasHit: Bool, hasWritten: Bool) {
        let place: Comment = "call \(number), late: \(late)"
        try await furnish(stage)
        try await row.prepare(stage)
        let (everything, before) = (try stage.place.state(), try stage.state())
        let countdown = stage.place.fail(at: number, late: late)
        var failure: APIError?
        do {
            try await row.act(stage)
        } catch let refusal as APIError {
            failure = refusal
        }
        stage.place.heal()
        let between = try stage.place.state()
        // Other accounts are unchanged, and no mechanism or notification is without its owner.
        #expect(between.without(stage.account) == everything.without(stage.account), place)
        #expect(!between.hasOrphans && between.damaged == 0, place)
        if countdown.wasHit {
            #expect(failure == nil || failure == .store || failure == row.refusal, place)
        } else {
            #expect(failure == row.refusal, place)
        }
        let after = try stage.state()
        let isDone = failure == nil && row.refusal == nil
        let isDoneLate = try late && (row.isLeftLate?(before, after) ?? row.isDone(before, after, stage))
        #expect(try isDone ? row.isDone(before, after, stage) : before == after || isDoneLate, place)
        // The operation succeeds when it is repeated, and keeps any change that was stored despite the failure.
        do {
            try await row.act(stage)
            #expect(row.refusal == nil, place)
        } catch let refusal as APIError {
            // The first read stores an answer that the server had accepted; the next line checks that.
            #expect(refusal == row.refusal || refusal == row.again, place)
        }
        #expect(try row.isDone(before, stage.state(), stage), place)
        #expect(try stage.place.state().without(stage.account) == everything.without(stage.account), place)
        return (countdown.wasHit, between != everything)
    }

    /// Adds another account of the user: a used HOTP mechanism, push with notifications, and a changed name.
    private func furnish(_ stage: Stage) async throws {
        let family = stage.family
        try await family.take(token: "token-1")
        let other = AccountID(issuer: "Quay Bank", accountName: "mira")
        try await family.enroll(
            Sample.combined.replacing("Harbor%20Bank", with: "Quay%20Bank")
                .replacing(Sample.base64("Harbor Bank"), with: Sample.base64("Quay Bank")).replacing("REGISTER:1", with: "R:2"))
        try await family.enroll(Sample.hotp.replacing("Harbor", with: "Quay"))
        _ = try await family.code(.hotp, of: other)
        try await family.rename(other, to: "Quay")
        guard let push = try stage.place.state().of(other).mechanisms.first(where: { $0.kindName == .push }) else {
            throw Unexpected()
        }
        for id in ["1", "2"] {
            let delivery = PushDelivery(messageId: "Q:\(id)", message: try Sample.message(to: push.uid))
            let notification = try await family.receive(delivery)
            if id == "1" { try await family.approve(notification, number: nil) }
        }
    }
}

extension Place.State {
    /// True if a mechanism or notification is stored without its owner.
    fileprivate var hasOrphans: Bool {
        let (ids, uids) = (Set(accounts.map(\.id)), Set(mechanisms.map(\.uid)))
        return !mechanisms.allSatisfy { ids.contains($0.account) }
            || !notifications.allSatisfy { uids.contains($0.message.mechanismUID) }
    }
}
