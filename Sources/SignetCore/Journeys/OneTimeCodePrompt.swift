extension StringProtocol {
    /// Whether it asks for a one-time code, as the prompts of servers do: `Enter verification code`, `One Time Password`,
    /// `Recovery Code`, `PIN`. Servers ask for codes in the callbacks for names, passwords and texts, so that nothing else tells.
    package var asksForOneTimeCode: Bool {
        let text = lowercased()
        let letters = text.filter { $0.isLetter || $0.isNumber }
        if ["code", "onetime", "einmal"].contains(where: { letters.contains($0) }) { return true }
        let words = text.split { !$0.isLetter && !$0.isNumber }
        return words.contains { ["otp", "totp", "hotp", "pin", "tan", "mfa", "2fa"].contains($0) }
    }
}
