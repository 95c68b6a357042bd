/** The completion script for PowerShell. It passes the words of the command line as arguments and never evaluates them. */
export const powershellScript = `# PowerShell completion for svc
Register-ArgumentCompleter -Native -CommandName svc -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.StartOffset -lt $cursorPosition } | ForEach-Object { $_.Extent.Text })
    if ($wordToComplete -eq '') { $words += '' }
    $flag = ''
    if ($wordToComplete -match '^(-[^=]*=)') { $flag = $Matches[1] }
    & svc complete '--' @words 2>$null | Where-Object { $_ -match "\`t" } | ForEach-Object {
        $value, $description = $_ -split "\`t", 2
        if (-not $description) { $description = $value }
        [System.Management.Automation.CompletionResult]::new("$flag$value", $value, 'ParameterValue', $description)
    }
}
`;
