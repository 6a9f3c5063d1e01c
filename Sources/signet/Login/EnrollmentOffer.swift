import SignetAuthenticator
import SignetCore
import SignetJourney
import SignetOAuth

/// Finds the accounts that the steps of a journey offer, and enrolls them in the vault.
struct EnrollmentOffer {
    private let session: Session
    private let policy: EndpointPolicy
    private let enrolls: Bool
    private let conflict: EnrollmentPlan.Conflict
    private let isConfirmed: Bool
    private var hasEnrolled = false
    /// The URI of the last enrollment that was offered; a waiting step repeats it.
    private var offered: String?
    /// The last pictures that were read, for the same reason.
    private var pictures: [[UInt8]] = []
    /// The reason why the last picture offers no account.
    private var pictureError: PictureError?

    /// The maximum number of pictures of a step that are read, so that a server can't keep the command busy with them.
    private static let maxPictures = 4

    /// Creates an offer.
    /// - Parameters:
    ///   - session: The vault.
    ///   - policy: The policy for addresses in enrollments.
    ///   - enrolls: True to enroll an account without asking.
    ///   - conflict: The treatment of a mechanism that the account already has.
    ///   - isConfirmed: True to replace such a mechanism without asking.
    init(_ session: Session, policy: EndpointPolicy, enrolls: Bool, conflict: EnrollmentPlan.Conflict, isConfirmed: Bool) {
        self.session = session
        self.policy = policy
        self.enrolls = enrolls
        self.conflict = conflict
        self.isConfirmed = isConfirmed
    }

    /// The error of a login that was to enroll an account and found none; nil without such an error.
    var failure: Failure? {
        guard enrolls, !hasEnrolled else { return nil }
        let isLibraryMissing = if case .libraryMissing = pictureError { true } else { false }
        let reason = pictureError.map { " (a picture was not read: \($0))" } ?? ""
        return Failure(
            isLibraryMissing ? .unavailable : .notFound, "login.nothingEnrolled",
            "logged in, but --enroll enrolled nothing, because the journey offered no account\(reason); name the journey that registers a"
                + " device with --journey, add --force if a session ended it early, or give a picture of the page's QR code to"
                + " 'signet enroll'")
    }

    /// Shows the QR code of a new authenticator, and enrolls the account in the vault if the user wants that.
    mutating func offer(_ step: JourneyStep, _ prompts: inout PromptSession) async throws {
        guard let uri = step.enrollmentURI ?? uriInPictures(of: step, prompts), uri != offered else { return }
        offered = uri
        let question = Question(prompt: "Enroll the account in this vault", names: ["enroll"])
        let isDrawn = !enrolls && StepPrinter.draw(uri)
        var isWanted = enrolls
        if !isWanted, prompts.hasUser || prompts.hasAnswer(question) {
            isWanted = try await prompts.agreement(question, default: false)
        }
        guard isWanted else {
            if !isDrawn { prompts.report("The server offers a new authenticator account; --enroll puts it into this vault.") }
            return
        }
        let account = try await enroll(EnrollmentURI.parse(uri, policy: policy))
        hasEnrolled = true
        prompts.report("Enrolled \(account.issuer): \(account.accountName) in this vault.")
    }

    /// Enrolls an account, and returns its final name.
    /// - Throws: ``Failure`` when the account has a mechanism of the same kind that may not be replaced, and when the user does not
    ///   confirm a replacement.
    private func enroll(_ offered: Enrollment) async throws -> AccountID {
        let plan = try await EnrollmentPlan(offered, conflict, in: session)
        if !isConfirmed { try await plan.confirmation?.ask() }
        do {
            try await plan.enroll(in: session)
        } catch let error as AuthenticatorError where error.code == .duplicateMechanism {
            throw Failure(error).advising(conflict == .refuse ? Self.advice : "")
        }
        return plan.enrollment.account
    }

    /// The advice for an account that already has a mechanism of the same kind.
    private static let advice =
        "; 'signet login --enroll --replace' replaces it, --rename instead of --replace keeps both"

    /// Returns the enrollment URI in the QR code of a picture of a step, and draws a QR code with another text.
    private mutating func uriInPictures(of step: JourneyStep, _ prompts: PromptSession) -> String? {
        let pictures = Array(step.pictures.prefix(Self.maxPictures))
        guard !pictures.isEmpty, pictures != self.pictures else { return nil }
        self.pictures = pictures
        for picture in pictures {
            do throws(PictureError) {
                let text = try QRScanner.singleCode(in: PictureReader.read(picture))
                if text.isEnrollmentURI { return text }
                if !StepPrinter.draw(text) {
                    prompts.report("The server shows a QR code for another device; log in at a terminal to see it.")
                }
            } catch {
                pictureError = error
                report(error, prompts)
            }
        }
        return nil
    }

    /// Reports a picture without a readable QR code.
    ///
    /// The user has to act on it if an account was to be enrolled.
    private func report(_ error: PictureError, _ prompts: PromptSession) {
        let text: TerminalText =
            switch error {
            case .noCode: "The server shows a picture without a QR code, which a terminal cannot show."
            case .libraryMissing: "The server shows a picture, perhaps the QR code of an account. Reading it \(error)"
            default: "The server shows a picture that may be the QR code of an account: \(error)"
            }
        if enrolls { Console.error(text) } else { prompts.report(text) }
    }
}
