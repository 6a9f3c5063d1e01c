import SignetAuthenticator
import SignetCore

/// An enrollment under its final name, and the mechanisms that it replaces.
///
/// `signet enroll` and `signet login` both use it.
struct EnrollmentPlan {
    /// The treatment of a mechanism of an offered kind that the account already has.
    enum Conflict {
        /// The enrollment is refused.
        case refuse
        /// The enrollment replaces the mechanism: `--replace`.
        case replace
        /// The enrollment gets a second account name, and the mechanism stays: `--rename`.
        case rename

        /// Creates the treatment from the options of a command, which exclude each other.
        init(replace: Bool, rename: Bool) {
            self = replace ? .replace : rename ? .rename : .refuse
        }
    }

    let enrollment: Enrollment
    var replaced: [Mechanism] = []

    /// Creates a plan without regard to the accounts in the vault.
    init(_ enrollment: Enrollment) {
        self.enrollment = enrollment
    }

    /// Creates the plan for an enrollment with the accounts in the vault.
    init(_ offered: Enrollment, _ conflict: Conflict, in session: Session) async throws {
        switch conflict {
        case .refuse:
            enrollment = offered
        case .rename:
            enrollment = try await session.offline { try await $0.withFreeName(offered) }
        case .replace:
            enrollment = offered
            let mechanisms = try await session.offline { try await $0.account(offered.account)?.mechanisms ?? [] }
            let kinds = offered.kinds.map(Mechanism.KindName.init)
            replaced = mechanisms.filter { kinds.contains($0.kindName) }
        }
    }

    /// The question before the replacement; nil if nothing is replaced.
    var confirmation: Confirmation? {
        guard !replaced.isEmpty else { return nil }
        let name: TerminalText = "\(enrollment.account.issuer): \(enrollment.account.accountName)"
        let list: String = replaced.map { "\($0.kindName.rawValue), enrolled \($0.timeAdded.text)" }.joined(separator: "; ")
        return Confirmation(
            warning: """
                This replaces in \(name): \(list). Its codes and push messages can't be brought back without a backup.
                """,
            action: "replace it", withoutTerminal: "replacing \(list) in \(name) can't be undone",
            declined: "nothing was changed")
    }

    /// Stores the account, and registers the device for push if the enrollment has a push invitation.
    func enroll(in session: Session, pushGateway: Endpoint? = nil) async throws {
        let uids = Set(replaced.map(\.uid))
        _ = try await session.online { try await $0.enroll(enrollment, pushGateway: pushGateway, replacing: uids) }
    }
}
